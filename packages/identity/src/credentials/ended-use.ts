import { upTo } from '@remit/core/base'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import { LRUCache } from 'lru-cache'
import type { EndReason, CredentialRecord } from './credential-record.ts'
import { claimRefusedUse } from './store.ts'

const REST_MS = 60_000
const MAX_KNOWN = 10_000

/**
 * Records the use of an ended credential. Its secret is correct and so in the wrong hands: an
 * alarm, once per minute and credential.
 */
export class EndedUse {
  readonly #deps: Pick<Deps, 'writer' | 'clock' | 'log'>
  /** The time of the last record of each credential, in milliseconds. */
  readonly #told = new LRUCache<string, number>(upTo(MAX_KNOWN))
  readonly #running = new Set<Promise<void>>()

  constructor(deps: Pick<Deps, 'writer' | 'clock' | 'log'>) {
    this.#deps = deps
  }

  /** Not awaited: response and timing must tell the caller nothing. */
  note(credential: CredentialRecord, reason: EndReason): void {
    const now = this.#deps.clock.now()
    const before = this.#told.get(credential.id)
    if (before !== undefined && now - before < REST_MS) return
    this.#told.set(credential.id, now)
    const running = this.#record(credential, reason).catch((error: unknown) =>
      this.#deps.log.warn({ err: error }, 'recording the use of an ended credential failed'),
    )
    this.#running.add(running)
    void running.finally(() => this.#running.delete(running))
  }

  async close(): Promise<void> {
    await Promise.all(this.#running)
  }

  #record({ id, orgId, agentId }: CredentialRecord, reason: EndReason): Promise<void> {
    return this.#deps.writer.work(orgId, OPERATOR, async ({ tx, now }) => {
      // Other processes see it too; the row decides which of them records it.
      const isFirst = await claimRefusedUse(tx, orgId, id, now)
      const entry: EntryDraft = {
        kind: 'credential.refused',
        actor: { type: 'credential', id },
        agent_id: agentId,
        reason,
        data: { credential_id: id, reason },
      }
      return { entries: isFirst ? [entry] : [], reply: () => undefined }
    })
  }
}
