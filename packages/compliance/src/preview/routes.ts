import { dryRun } from '@remit/contract'
import type {
  AuthorizeRequest,
  Decision,
  DryRunRequest,
  DryRunResult,
  PolicyOverlay,
  ReplayRequest,
} from '@remit/contract'
import { fail, invalid, isoTime } from '@remit/core/base'
import type { Preview } from '@remit/core/decision'
import { implement } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import { firstOf } from '@remit/core/ledger/lanes'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import type { Deps, Replays } from '@remit/core/module'
import { refuseSuspended } from '@remit/core/orgs/settings'
import { Turns } from '@remit/core/threads'
import { actorOf, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { admitOverlay, requireRuleTrials, recordedOverlay, digestOf } from './overlay.ts'
import type { Jobs, ReplayResult, ReplaySpan } from '../jobs/jobs.ts'

const YEAR_MS = 366 * 24 * 60 * 60 * 1000
/** The maximum computation time of a replay, in milliseconds. */
const REPLAY_MS = 10_000

/** One dry-run per organization at a time; a longer wait would exceed its deadline. */
const TRIALS = {
  size: Infinity,
  each: 1,
  waiting: { each: 4, total: Infinity },
  patienceMs: 8_000,
}

/** Explanations of a replay's counts. */
const NOTES = [
  'Only policies and approval rules are evaluated again. Denials by other stages remain, and so do approvals that were given or rejected. Spend is not counted again.',
  'If the policies would now allow an action that they denied, the current approval rules determine whether it requires approval.',
]

/** The explanations, with the parts of the overlay that a replay does not use. */
function notesOn(overlay: PolicyOverlay | undefined): string[] {
  const left = NOT_REPLAYED.filter((part) => overlay?.[part] !== undefined)
  return left.length === 0 ? NOTES : [...NOTES, `Not replayed: ${left.join(', ')}.`]
}

const NOT_REPLAYED = ['permissions', 'spend_limits', 'budgets', 'agent_modes', 'settings'] as const

export const previewRoutes = (deps: Deps, jobs: Pick<Jobs, 'replay'>): Route[] => {
  const { db, clock, decider, writer, offered } = deps
  const trying = new Turns(TRIALS)
  return implement(dryRun, {
    dryRunPolicies: async ({ body }, caller, request) => {
      const { orgId, plan } = caller
      // The writer refuses too late, when everything is computed.
      await refuseSuspended(db, orgId)
      const { overlay } = body
      const at = momentOf(body.at, clock.now())
      const requests = body.requests ?? [soleRequest(body)]
      const options = { ...(body.at !== undefined && { at }), ...(overlay && { overlay }) }
      const { rules, previews } = await trying.run(orgId, async () => ({
        rules: await admitOverlay(offered('ruleTrials'), orgId, overlay),
        previews: await decider.preview(orgId, plan, requests, options),
      }))
      const time = isoTime(at)
      return writer.work(orgId, request, (_scope, admitted) => {
        const data = {
          method: 'dry_run',
          requests: requests.length,
          outcomes: countOutcomes(previews),
          plan,
          ...(body.at !== undefined && { at: time }),
        } as const
        return Promise.resolve({
          entries: [dryRunEntry(admitted, overlay, data)],
          reply: (recorded) => {
            const [first] = previews
            const shared = { at: time, overlay: rules, ledger: firstOf(recorded).receipt }
            return body.requests === undefined && first
              ? { ...resultOf(first), ...shared }
              : { results: previews.map(resultOf), ...shared }
          },
        })
      })
    },

    replayPolicies: async ({ body }, caller, request) => {
      const { orgId } = caller
      await refuseSuspended(db, orgId)
      const { overlay, max_decisions: maxDecisions, limit } = body
      const continued = readCursor(body)
      const [from, to] = [body.from, body.to].map((time) => isoTime(Date.parse(time)))
      const rules = await trying.run(orgId, () =>
        admitOverlay(offered('ruleTrials'), orgId, overlay),
      )
      const result = await jobs.replay(orgId, {
        module: requireRuleTrials(offered('ruleTrials')).module,
        overlay: overlay ?? null,
        span: continued?.span ?? { from: from ?? '', to: to ?? '' },
        digest: continued?.digest ?? null,
        maxDecisions,
        limit,
        maxMs: REPLAY_MS,
      })
      if (!result) throw fail('rules_changed')
      const { counts, judgedBy } = result
      const { decisions, first_seq, last_seq, flipped } = counts
      return writer.work(orgId, request, (_scope, admitted) => {
        const seen = { decisions, first_seq, last_seq, flipped }
        const data = { method: 'replay', from, to, ...seen } as const
        return Promise.resolve({
          entries: [dryRunEntry(admitted, overlay, data)],
          reply: (recorded) => ({
            from: from ?? '',
            to: to ?? '',
            ...counts,
            judged_by: {
              policies: judgedBy.policies,
              approval_rules: judgedBy.approvalRules,
              default_effect: judgedBy.defaultEffect,
              digest: judgedBy.digest,
            },
            notes: notesOn(overlay),
            overlay: rules,
            next_cursor: cursorOf(body, result),
            ledger: firstOf(recorded).receipt,
          }),
        })
      })
    },
  })
}

/** Replays for other modules: see `Replays`. */
export const replaysOf = (
  { offered }: Pick<Deps, 'offered'>,
  jobs: Pick<Jobs, 'replay'>,
): Replays => ({
  async count(orgId, overlay, period) {
    const [from = '', to = ''] = [period.from, period.to].map((time) => isoTime(Date.parse(time)))
    const result = await jobs.replay(orgId, {
      module: requireRuleTrials(offered('ruleTrials')).module,
      overlay,
      span: { from, to },
      digest: null,
      maxDecisions: period.max_decisions,
      limit: 0,
      maxMs: REPLAY_MS,
    })
    if (!result) throw fail('rules_changed')
    const { decisions, flipped, not_replayable: unknown } = result.counts
    const not_replayable = Object.values(unknown).reduce((sum, count) => sum + count, 0)
    return { from, to, decisions, flipped, not_replayable, complete: result.rest === null }
  },
})

/** The time of the decision, bounded: distant times are outside all spend windows and rules. */
function momentOf(at: string | undefined, now: number): number {
  if (at === undefined) return now
  const time = Date.parse(at)
  if (Math.abs(time - now) > YEAR_MS)
    throw invalid('at', 'must be within one year of the current time')
  return time
}

/** The contract guarantees agent and action. */
const soleRequest = ({
  action,
  agent_id,
  context,
  replaced,
  resource,
  subject,
}: DryRunRequest): AuthorizeRequest => ({
  action: action ?? '',
  agent_id: agent_id ?? '',
  ...(context && { context }),
  ...(replaced && { replaced }),
  ...(resource !== undefined && { resource }),
  ...(subject && { subject }),
})

function countOutcomes(previews: readonly Preview[]): Record<Decision, number> {
  const outcomes = { allow: 0, deny: 0, needs_approval: 0 }
  for (const { decision } of previews) outcomes[decision]++
  return outcomes
}

const resultOf = ({ matched, observed, trace, warnings, ...rest }: Preview): DryRunResult => ({
  ...rest,
  ...(observed && { observed: [...observed] }),
  matched: [...matched],
  trace: trace.map(({ matched: some, ...step }) => ({
    ...step,
    ...(some && { matched: [...some] }),
  })),
  warnings: [...warnings],
})

/**
 * The entry of a dry-run or a replay: one per call. It has no agent, action or decision, so that it
 * cannot be mistaken for a decision.
 */
const dryRunEntry = (
  caller: Caller | null,
  overlay: PolicyOverlay | undefined,
  data: Readonly<Record<string, unknown>> & { readonly method: 'dry_run' | 'replay' },
): EntryDraft => ({
  kind: 'policy.dry_run',
  actor: actorOf(caller),
  data: { ...data, ...(overlay && { overlay: recordedOverlay(overlay) }), ...personOf(caller) },
})

const CURSOR = /^(\d{1,15})\.(\d{1,15})\.([0-9a-f]{16})\.([0-9a-f]{16})$/

/** The position to continue a replay from, and the digest prefix of its rules. */
interface ReplayPosition {
  readonly span: ReplaySpan
  readonly digest: string
}

/** Encodes the remaining span, bound to the period, the overlay and the rules. */
const cursorOf = (request: ReplayRequest, { rest, judgedBy }: ReplayResult): string | null =>
  rest && [rest.fromSeq, rest.endSeq, mark(request), judgedBy.digest.slice(0, 16)].join('.')

/** Decodes a cursor. Throws `invalid_request` for a cursor of another replay. */
function readCursor(request: ReplayRequest): ReplayPosition | null {
  if (request.cursor === undefined) return null
  const [, fromSeq, endSeq, own, digest] = CURSOR.exec(request.cursor) ?? []
  if (own !== mark(request) || digest === undefined)
    throw invalid('cursor', 'is not a cursor of a replay with this period and overlay')
  return { span: { fromSeq: Number(fromSeq), endSeq: Number(endSeq) }, digest }
}

const mark = ({ from, to, overlay }: ReplayRequest): string =>
  digestOf({ from, to, overlay }).slice(0, 16)
