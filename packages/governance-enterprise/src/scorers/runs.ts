import { toMicroUsd } from '@remit/contract/values'
import { actorOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import type { Move } from '@remit/core/decision'
import { lane, toClientError } from '@remit/core/ledger/lanes'
import type { EntryDraft, Lane } from '@remit/core/ledger/lanes'
import type { Deps, FinishedRun, ScorerRuns } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import { AppendThresholds } from '../budgets/thresholds.ts'
import { agentMoves } from '../counters/charges.ts'
import { counterRows } from '../counters/store.ts'

interface Job {
  readonly caller: Caller
  readonly run: FinishedRun
}

/**
 * Records every scorer run before the response: an entry with numbers and a hash, never a text. The
 * cost of a judge is spend of the calling key, like an append without an agent.
 */
export function scorerRuns({ writer, settings }: Pick<Deps, 'writer' | 'settings'>): ScorerRuns {
  // The key of a scorer is no agent: its cost is no budget's.
  const own = runsLane(
    new AppendThresholds(settings.spendUrl === undefined, () => Promise.resolve(null)),
  )
  return {
    async ran(caller, run) {
      try {
        // Not as the caller: the money is spent even if the key was revoked meanwhile.
        await writer.submit(own, caller.orgId, { caller, run }, OPERATOR)
      } catch (error) {
        throw toClientError(error)
      }
    },
  }
}

const runsLane = (thresholds: AppendThresholds): Lane<Job, null> =>
  lane('scorer_runs', async (works, scope) => {
    const jobs = works.map(({ job }) => job)
    const moves = jobs.flatMap((job) => movesOf(job, scope.recordedAt))
    const further = await thresholds.entries(moves, scope)
    scope.writes.push(counterRows(scope.orgId, moves))
    const outcomes = jobs.map((job) => ({ entries: [entryOf(job)], reply: () => null }))
    return { outcomes, further }
  })

/** The cost of the run in USD; null if unknown or free. */
function costOf({ metadata }: FinishedRun): number | null {
  const cost = metadata['cost_usd']
  return typeof cost === 'number' ? cost : null
}

const movesOf = ({ caller, run }: Job, recordedAt: string): Move[] =>
  agentMoves(actorOf(caller).id, recordedAt, toMicroUsd(Math.max(0, costOf(run) ?? 0)), 0)

function entryOf({ caller, run }: Job): EntryDraft {
  const cost = costOf(run)
  const { cost_usd: _, ...facts } = run.metadata
  return {
    kind: 'scorer.ran',
    actor: actorOf(caller),
    data: {
      scorer: run.scorer,
      version: run.scorerVersion,
      threshold: run.threshold,
      count: run.count,
      scored: run.scored,
      failed: run.failed,
      mean: run.mean,
      pass_rate: run.passRate,
      errors_by_code: run.errorsByCode,
      content_hash: run.contentHash,
      ...(cost !== null && { cost_usd: cost }),
      ...(Object.keys(facts).length > 0 && { facts }),
    },
  }
}
