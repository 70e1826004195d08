import type { Answer, credentials as endpoints } from '@remit/contract'
import { fail } from '@remit/core/base'
import { actorOf, personOf, refuseAgents } from '@remit/core/caller'
import { firstOf } from '@remit/core/ledger/lanes'
import type { Change } from '@remit/core/ledger/lanes'
import { revoke } from './store.ts'
import { wireCredential } from './view.ts'

type Revoked = Answer<typeof endpoints.revokeCredential>

/** Revokes a credential: after the commit, no request with it is carried out. */
export const revocation =
  (id: string): Change<Revoked> =>
  async ({ tx, orgId, recordedAt: at }, caller) => {
    refuseAgents(caller)
    const actor = actorOf(caller)
    const row = await revoke(tx, orgId, id, { at, by: actor.id })
    if (!row) throw fail('credential_not_found')
    const credential = wireCredential(row, at)
    return {
      entries: [
        {
          kind: 'credential.revoked',
          actor,
          agent_id: row.agent_id,
          data: { credential, ...personOf(caller) },
        },
      ],
      reply: (recorded) => ({ id, revoked_at: at, ledger: firstOf(recorded).receipt }),
    }
  }
