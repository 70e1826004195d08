import { upTo } from '@remit/core/base'
import { ownAgent } from '@remit/core/caller'
import type { Impersonations } from '@remit/core/caller'
import { recording, toClientError } from '@remit/core/ledger/lanes'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import { LRUCache } from 'lru-cache'

const MINUTE_MS = 60_000
/** Recorded names per credential and minute; further ones are only counted. */
const NAMES_A_MINUTE = 10
const MAX_KNOWN = 10_000

interface Minute {
  readonly since: number
  readonly asked: Set<string>
  unrecorded: number
}

/**
 * Records requests of an agent in another agent's name: each name once per minute, so that a
 * credential cannot flood the ledger. The next entry of the credential contains the number of
 * unrecorded refusals.
 */
export function refusedImpersonations({
  writer,
  clock,
}: Pick<Deps, 'writer' | 'clock'>): Impersonations {
  const minutes = new LRUCache<string, Minute>(upTo(MAX_KNOWN))

  /** The number of refusals without an entry since the last one; null if this one has none either. */
  function admit(credentialId: string, asked: string): number | null {
    const now = clock.now()
    let minute = minutes.get(credentialId)
    const isOver = minute === undefined || now - minute.since >= MINUTE_MS
    if (!minute || isOver) {
      minute = { since: now, asked: new Set(), unrecorded: minute?.unrecorded ?? 0 }
      minutes.set(credentialId, minute)
    }
    if (minute.asked.has(asked) || minute.asked.size >= NAMES_A_MINUTE) {
      minute.unrecorded++
      return null
    }
    minute.asked.add(asked)
    const { unrecorded: earlier } = minute
    minute.unrecorded = 0
    return earlier
  }

  return {
    async refused(caller, asked, requestId) {
      const { orgId, principal } = caller
      const agent_id = ownAgent(caller)
      const earlier = admit(principal.id, asked)
      if (earlier === null) return
      const entry: EntryDraft = {
        kind: 'identity.impersonation.refused',
        actor: { type: principal.type, id: principal.id },
        agent_id,
        reason: 'agent_mismatch',
        data: {
          agent_id,
          asked_agent_id: asked,
          credential_id: principal.id,
          request_id: requestId,
          ...(earlier > 0 && { unrecorded: earlier }),
        },
      }
      const work = writer.work(orgId, OPERATOR, () => recording(entry))
      await work.catch((error: unknown) => {
        throw toClientError(error)
      })
    },
  }
}
