import { isReason, REASONS } from '@remit/contract'
import type { Flip, FlipKind } from '@remit/contract'
import type { RecordedDecision } from '@remit/core/decision/recorded'
import type { RuleTrial, TrialVerdict } from '@remit/core/module'

type Side = Flip['was']

/** A recorded decision under other policy rules. */
export type ReevaluatedDecision =
  | { readonly is: 'unchanged'; readonly why: 'judged' | 'denied_elsewhere' | 'not_in_plan' }
  | {
      readonly is: 'not_replayable'
      readonly why: 'policies_failed' | 'agent_unknown' | 'reason_unknown'
    }
  | {
      readonly is: 'flip'
      readonly kind: FlipKind
      /** The rule that caused the difference; null for the default effect. */
      readonly cause: string | null
      readonly by: 'policy' | 'approval_rule'
      readonly was: Side
      readonly wouldBe: Side
    }

/**
 * Evaluates the policies of a decision again, and the approval rules if it passes them; the results of
 * other stages remain, and so do approvals that were given or rejected. `agent` is as for
 * `RuleTrial.judge`.
 */
export function reevaluate(
  { ask, decision, reason, matched }: RecordedDecision,
  trial: RuleTrial,
  agent: Readonly<Record<string, unknown>> | null,
): ReevaluatedDecision {
  if (ask.plan !== 'enterprise') return { is: 'unchanged', why: 'not_in_plan' }
  // Of a newer version, whose stages and policies this one does not know.
  if (!isReason(reason)) return { is: 'not_replayable', why: 'reason_unknown' }
  const { policies } = REASONS[reason]
  if (policies !== 'denied' && policies !== 'passed')
    return { is: 'unchanged', why: 'denied_elsewhere' }
  const policy = matched.find(({ kind }) => kind === 'policy')?.id ?? null
  if (reason === 'policy_error' && policy === null)
    return { is: 'not_replayable', why: 'policies_failed' }
  const verdict = trial.judge(ask, agent)
  if (verdict.says === 'unknown') return { is: 'not_replayable', why: 'agent_unknown' }
  const wasDenied = policies === 'denied'
  const was: Side = { decision, reason, policy }
  if (!wasDenied && verdict.says === 'pass')
    return reason === 'approved'
      ? { is: 'unchanged', why: 'judged' }
      : askedAgain(was, verdict, { ask, matched }, trial)
  if (wasDenied && verdict.says === 'deny') return { is: 'unchanged', why: 'judged' }
  const wouldBe: Side = { ...outcomeOf(verdict, { ask, matched }, trial), policy: verdict.policy }
  const [denying, letting] = wasDenied ? [was, wouldBe] : [wouldBe, was]
  return {
    is: 'flip',
    kind: `${was.decision}_to_${wouldBe.decision}` as FlipKind,
    cause: denying.policy ?? letting.policy,
    by: 'policy',
    was,
    wouldBe,
  }
}

/** The decision on a request that the policies let pass then and now. */
function askedAgain(
  was: Side,
  verdict: Exclude<TrialVerdict, { says: 'unknown' }>,
  recorded: Pick<RecordedDecision, 'ask' | 'matched'>,
  trial: RuleTrial,
): ReevaluatedDecision {
  const wouldBe = { ...outcomeOf(verdict, recorded, trial), policy: verdict.policy }
  if (was.decision === wouldBe.decision) return { is: 'unchanged', why: 'judged' }
  const asking = recorded.matched.find(({ kind }) => kind === 'approval_rule')?.id
  return {
    is: 'flip',
    kind: `${was.decision}_to_${wouldBe.decision}` as FlipKind,
    cause: asking ?? trial.approvalRulesFor(recorded.ask)[0] ?? null,
    by: 'approval_rule',
    was,
    wouldBe,
  }
}

function outcomeOf(
  verdict: Exclude<TrialVerdict, { says: 'unknown' }>,
  { ask, matched }: Pick<RecordedDecision, 'ask' | 'matched'>,
  trial: RuleTrial,
): Omit<Side, 'policy'> {
  if (verdict.says === 'deny') return { decision: 'deny', reason: verdict.reason }
  if (trial.approvalRulesFor(ask).length > 0)
    return { decision: 'needs_approval', reason: 'approval_required' }
  const granted = matched.some(({ kind }) => kind === 'permission')
  const otherwise = granted ? 'permission_grant' : 'default_allow'
  return { decision: 'allow', reason: verdict.reason ?? otherwise }
}
