import { actorOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { lane, toClientError } from '@remit/core/ledger/lanes'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import type { Deps, GuardCheckMade, GuardChecks } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import type { GuardCounts } from './counts.ts'

interface Job {
  readonly caller: Caller
  readonly check: GuardCheckMade
}

/**
 * Records every guard verdict except a plain allow before the response: verdict, findings and a
 * hash of the text, never the text. Plain allows are counted.
 */
export const guardChecks = (
  { writer }: Pick<Deps, 'writer'>,
  counts: GuardCounts,
): GuardChecks => ({
  async made(caller, check) {
    try {
      // Not as the caller: the text was checked even if the key was revoked meanwhile.
      await writer.submit(checksLane, caller.orgId, { caller, check }, OPERATOR)
    } catch (error) {
      throw toClientError(error)
    }
  },

  passed: (orgId, agentId) => counts.add(orgId, agentId),
})

const checksLane = lane<Job, null>('guard_checks', (works) =>
  Promise.resolve({
    outcomes: works.map(({ job }) => ({ entries: [entryOf(job)], reply: () => null })),
  }),
)

const entryOf = ({ caller, check }: Job): EntryDraft => ({
  kind: 'guard.checked',
  actor: actorOf(caller),
  agent_id: check.agentId,
  data: {
    action: check.action,
    flagged: check.flagged,
    score: check.score,
    threshold: check.threshold,
    reasons: check.reasons,
    source: check.source,
    direction: check.direction,
    model: check.model,
    content_hash: check.contentHash,
    ...(check.sessionId !== undefined && { session_id: check.sessionId }),
    ...(check.requestId !== undefined && { request_id: check.requestId }),
  },
})
