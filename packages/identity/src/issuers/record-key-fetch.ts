import { isoTime } from '@remit/core/base'
import { actorOf } from '@remit/core/caller'
import type { Deps } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import type { OnKeyFetch } from './keys.ts'
import { changeIssuer, findIssuer } from './store.ts'

/** Stores the result of a key fetch; a new failure is also recorded in the ledger. */
export const recordKeyFetch =
  ({ db, writer }: Pick<Deps, 'db' | 'writer'>): OnKeyFetch =>
  async ({ orgId, id, issuer }, { keys, fetchedAt, error }, isNews) => {
    await changeIssuer(db, orgId, id, {
      key_count: keys.size,
      fetched_at: fetchedAt === null ? null : isoTime(fetchedAt),
      fetch_error: error,
    })
    if (error === null || !isNews) return
    await writer.work(orgId, OPERATOR, async ({ tx }) => {
      // A record under creation has no entry yet.
      const row = await findIssuer(tx, orgId, id)
      const data = { idp_id: id, issuer, error }
      return {
        entries: row ? [{ kind: 'issuer.fetch_failed', actor: actorOf(null), data }] : [],
        reply: () => undefined,
      }
    })
  }
