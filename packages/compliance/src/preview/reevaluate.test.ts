import { Decision, Reason, REASONS } from '@remit/contract'
import type { Match, Plan } from '@remit/contract'
import type { RecordedDecision } from '@remit/core/decision/recorded'
import { DecisionMeter } from '@remit/core/decision'
import type { RuleTrial, TrialVerdict } from '@remit/core/module'
import { describe, expect, it } from 'vitest'
import { reevaluate } from './reevaluate.ts'

const DENIED: TrialVerdict = { says: 'deny', reason: 'policy_deny', policy: 'new' }
const PASSED: TrialVerdict = { says: 'pass', reason: null, policy: null }

const recordedAs = (
  decision: Decision,
  reason: string,
  matched: readonly Match[] = [],
  plan: Plan = 'enterprise',
): RecordedDecision => ({
  ask: {
    orgId: 'org',
    plan,
    decisionId: 'dec',
    caller: null,
    request: { agent_id: 'a', action: 'b', context: {} },
    claims: {},
    resource: null,
    now: 0,
    meter: new DecisionMeter(),
  },
  decision,
  reason,
  matched,
})

const trialOf = (verdict: TrialVerdict, approvalRules: readonly string[] = []): RuleTrial => ({
  policies: 1,
  approvalRules: approvalRules.length,
  defaultEffect: 'allow',
  digest: '',
  judge: () => verdict,
  approvalRulesFor: () => approvalRules,
})

/** `unchanged why`, `not_replayable why`, or the kind of the flip with its cause and reason. */
function said(recorded: RecordedDecision, trial: RuleTrial): string {
  const judged = reevaluate(recorded, trial, {})
  if (judged.is !== 'flip') return `${judged.is} ${judged.why}`
  return `${judged.kind} by ${judged.cause ?? 'default'}: ${judged.wouldBe.reason}`
}

const OLD: Match[] = [{ kind: 'policy', id: 'old' }]
/** A self-test is no decision. */
type Judged = Exclude<Reason, 'self_test'>

describe('a reevaluated decision', () => {
  const byReason: Record<Judged, readonly [ifDenied: string, ifPassed: string]> = {
    default_allow: ['allow_to_deny by new: policy_deny', 'unchanged judged'],
    policy_allow: ['allow_to_deny by new: policy_deny', 'unchanged judged'],
    approved: ['allow_to_deny by new: policy_deny', 'unchanged judged'],
    permission_grant: ['allow_to_deny by new: policy_deny', 'unchanged judged'],
    approval_required: [
      'needs_approval_to_deny by new: policy_deny',
      'needs_approval_to_allow by default: default_allow',
    ],
    default_deny: ['unchanged judged', 'deny_to_allow by default: default_allow'],
    policy_deny: ['unchanged judged', 'deny_to_allow by old: default_allow'],
    policy_error: ['unchanged judged', 'deny_to_allow by old: default_allow'],
    agent_denied: ['unchanged denied_elsewhere', 'unchanged denied_elsewhere'],
    agent_suspended: ['unchanged denied_elsewhere', 'unchanged denied_elsewhere'],
    agent_removed: ['unchanged denied_elsewhere', 'unchanged denied_elsewhere'],
    no_permission: ['unchanged denied_elsewhere', 'unchanged denied_elsewhere'],
    spend_limit_hourly: ['unchanged denied_elsewhere', 'unchanged denied_elsewhere'],
    spend_limit_daily: ['unchanged denied_elsewhere', 'unchanged denied_elsewhere'],
    spend_limit_monthly: ['unchanged denied_elsewhere', 'unchanged denied_elsewhere'],
    budget_exceeded: ['unchanged denied_elsewhere', 'unchanged denied_elsewhere'],
    spend_unavailable: ['unchanged denied_elsewhere', 'unchanged denied_elsewhere'],
    amount_invalid: ['unchanged denied_elsewhere', 'unchanged denied_elsewhere'],
    context_unseen: ['unchanged denied_elsewhere', 'unchanged denied_elsewhere'],
    approval_rejected: ['unchanged denied_elsewhere', 'unchanged denied_elsewhere'],
    approval_backlog: ['unchanged denied_elsewhere', 'unchanged denied_elsewhere'],
    stage_unavailable: ['unchanged denied_elsewhere', 'unchanged denied_elsewhere'],
    unmappable: ['unchanged denied_elsewhere', 'unchanged denied_elsewhere'],
  }

  it.each(Reason.exclude(['self_test']).options)('for the reason %s', (reason) => {
    const matched = reason.startsWith('policy_') ? OLD : []
    const recorded = recordedAs(REASONS[reason].decision, reason, matched)

    expect([said(recorded, trialOf(DENIED)), said(recorded, trialOf(PASSED))]).toEqual(
      byReason[reason],
    )
  })

  it('is not reevaluated for a reason of a newer version, which may be of any stage', () => {
    for (const decision of Decision.options)
      for (const verdict of [DENIED, PASSED])
        for (const reason of ['action_forbidden', '', 'toString'])
          expect(said(recordedAs(decision, reason, OLD), trialOf(verdict))).toBe(
            'not_replayable reason_unknown',
          )
  })

  it('needs an approval where the current approval rules match', () => {
    const recorded = recordedAs('deny', 'policy_deny', OLD)

    expect(said(recorded, trialOf(PASSED, ['large']))).toBe(
      'deny_to_needs_approval by old: approval_required',
    )
    expect(said(recordedAs('allow', 'default_allow'), trialOf(PASSED, ['large', 'x']))).toBe(
      'allow_to_needs_approval by large: approval_required',
    )
  })

  it('keeps an approval that was given, and one that was not needed and is not', () => {
    for (const reason of ['approved', 'policy_allow'])
      expect(said(recordedAs('allow', reason, OLD), trialOf(PASSED))).toBe('unchanged judged')
    expect(said(recordedAs('allow', 'approved'), trialOf(PASSED, ['large']))).toBe(
      'unchanged judged',
    )
  })

  it('needs no approval where no approval rule matches any more', () => {
    const asked = [...OLD, { kind: 'approval_rule', id: 'large' }]
    const recorded = recordedAs('needs_approval', 'approval_required', asked)

    expect(said(recorded, trialOf(PASSED))).toBe('needs_approval_to_allow by large: default_allow')
    expect(said(recorded, trialOf(PASSED, ['other']))).toBe('unchanged judged')
  })

  it('gives the reason that would have been the last', () => {
    const granted = [...OLD, { kind: 'permission', id: 'grant' }]
    const allowed: TrialVerdict = { says: 'pass', reason: 'policy_allow', policy: 'new' }

    expect(said(recordedAs('deny', 'policy_deny', granted), trialOf(PASSED))).toContain(
      ': permission_grant',
    )
    expect(said(recordedAs('deny', 'policy_deny', granted), trialOf(allowed))).toContain(
      ': policy_allow',
    )
  })

  it('names the rule that denies, else the one that allows, else the default effect', () => {
    const allowed: TrialVerdict = { says: 'pass', reason: 'policy_allow', policy: 'new' }
    const byDefault: TrialVerdict = { says: 'deny', reason: 'default_deny', policy: null }

    expect(said(recordedAs('deny', 'default_deny'), trialOf(allowed))).toContain(' by new:')
    expect(said(recordedAs('deny', 'policy_deny', OLD), trialOf(allowed))).toContain(' by old:')
    expect(said(recordedAs('allow', 'policy_allow', OLD), trialOf(byDefault))).toContain(' by old:')
    expect(said(recordedAs('allow', 'default_allow'), trialOf(byDefault))).toContain(' by default:')
  })

  it('is unchanged on a plan without policies', () => {
    const recorded = recordedAs('allow', 'default_allow', [], 'team')

    expect(said(recorded, trialOf(DENIED))).toBe('unchanged not_in_plan')
  })

  it('is not reevaluated if the policies had failed or their inputs are unknown', () => {
    expect(said(recordedAs('deny', 'policy_error'), trialOf(PASSED))).toBe(
      'not_replayable policies_failed',
    )
    expect(said(recordedAs('allow', 'default_allow'), trialOf({ says: 'unknown' }))).toBe(
      'not_replayable agent_unknown',
    )
  })
})
