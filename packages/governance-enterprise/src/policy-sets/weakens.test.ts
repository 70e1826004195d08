import type { ObjectKind } from '@remit/contract'
import { PolicyDocument } from '@remit/contract'
import { expect, test } from 'vitest'
import { weakens } from './weakens.ts'

type Spec = Readonly<Record<string, unknown>>
const wholeOf = (kind: ObjectKind, spec: Spec | null): Record<string, unknown> | null => {
  if (spec === null || kind === 'Settings') return spec
  return PolicyDocument.parse({ apiVersion: 'remit.dev/v1', kind, name: 'x', spec }).spec
}

const deny = { effect: 'deny' }
const allow = { effect: 'allow', actions: ['pay.*'] }
const approval = { actions: ['pay.*'], required_approvals: 2, required_rejections: 2 }
const approvers = { users: ['ada', 'bob'] }
const limit = { agent_id: 'a', daily_usd: 10 }
const budget = { unit: 'usd', window: 'day', limit: 10 }
const slice = { ...budget, parent_id: 'p', reserved: true }
const held = { agent_id: 'a', actions: ['pay'] }

test.each<[string, ObjectKind, Spec | null, Spec | null, boolean]>([
  ['a new deny', 'Policy', null, deny, false],
  ['a deny that is gone', 'Policy', deny, null, true],
  ['a disabled deny', 'Policy', deny, { ...deny, enabled: false }, true],
  ['a deny that is only observed', 'Policy', deny, { ...deny, mode: 'observe' }, true],
  ['an observed deny that is enforced', 'Policy', { ...deny, mode: 'observe' }, deny, false],
  ['a new allow', 'Policy', null, allow, true],
  ['a new allow that is observed', 'Policy', null, { ...allow, mode: 'observe' }, false],
  ['an allow that is gone', 'Policy', allow, null, false],
  ['an allow in place of a deny', 'Policy', deny, allow, true],
  ['a deny in place of an allow', 'Policy', allow, deny, false],
  ['a narrower allow', 'Policy', allow, { ...allow, actions: ['pay.small'] }, false],
  ['a wider allow', 'Policy', allow, { ...allow, actions: ['*'] }, true],
  ['an allow for another service', 'Policy', allow, { ...allow, actions: ['mail.*'] }, true],
  ['a wider deny', 'Policy', { ...deny, agents: ['a'] }, { ...deny, agents: ['a*'] }, false],
  ['a narrower deny', 'Policy', deny, { ...deny, agents: ['a'] }, true],
  ['a deny with a condition', 'Policy', deny, { ...deny, condition: 'context.n > 1' }, true],
  ['another condition of an allow', 'Policy', allow, { ...allow, condition: 'true' }, true],
  ['a deny that ends', 'Policy', deny, { ...deny, expires_at: '2030-01-01T00:00:00Z' }, true],
  ['another description', 'Policy', deny, { ...deny, description: 'x' }, false],
  ['a new approval rule', 'ApprovalRule', null, approval, false],
  ['an approval rule that is gone', 'ApprovalRule', approval, null, true],
  ['more approvals', 'ApprovalRule', approval, { ...approval, required_approvals: 3 }, false],
  ['fewer approvals', 'ApprovalRule', approval, { ...approval, required_approvals: 1 }, true],
  ['more rejections', 'ApprovalRule', approval, { ...approval, required_rejections: 3 }, true],
  ['named approvers', 'ApprovalRule', approval, { ...approval, approvers }, false],
  ['any approver', 'ApprovalRule', { ...approval, approvers }, approval, true],
  [
    'one more approver',
    'ApprovalRule',
    { ...approval, approvers },
    { ...approval, approvers: { users: ['ada', 'bob', 'eve'] } },
    true,
  ],
  [
    'a longer approval',
    'ApprovalRule',
    approval,
    { ...approval, approval_ttl_seconds: 9999 },
    true,
  ],
  [
    'an approval of oneself',
    'ApprovalRule',
    approval,
    { ...approval, prevent_self_approval: false },
    true,
  ],
  ['fewer actions', 'ApprovalRule', approval, { ...approval, actions: ['pay.large'] }, true],
  ['a new limit', 'SpendLimit', null, limit, false],
  ['a lower cap', 'SpendLimit', limit, { ...limit, daily_usd: 9 }, false],
  ['a higher cap', 'SpendLimit', limit, { ...limit, daily_usd: 11 }, true],
  ['a further cap', 'SpendLimit', limit, { ...limit, monthly_usd: 11 }, false],
  ['another cap', 'SpendLimit', limit, { agent_id: 'a', monthly_usd: 10 }, true],
  ['holds that end', 'SpendLimit', limit, { ...limit, hold_ttl_seconds: 5 }, true],
  ['a limit that is gone', 'SpendLimit', limit, null, true],
  ['a new budget', 'Budget', null, budget, false],
  ['a lower budget', 'Budget', budget, { ...budget, limit: 9 }, false],
  ['a higher budget', 'Budget', budget, { ...budget, limit: 11 }, true],
  ['a lower slice', 'Budget', slice, { ...slice, limit: 9 }, true],
  ['a slice by another name', 'Budget', slice, { ...slice, description: 'x' }, false],
  ['a budget of more', 'Budget', { ...budget, match: { actions: ['a'] } }, budget, false],
  ['a budget of less', 'Budget', budget, { ...budget, match: { actions: ['a'] } }, true],
  ['an observed budget', 'Budget', budget, { ...budget, mode: 'observe' }, true],
  ['a budget that is gone', 'Budget', budget, null, true],
  ['a new grant', 'Permission', null, held, true],
  ['a grant from a parent', 'Permission', null, { ...held, parent_id: 'p' }, false],
  ['a grant that is gone', 'Permission', held, null, false],
  ['a narrower grant', 'Permission', { ...held, actions: ['*'] }, held, false],
  ['a grant that can be delegated', 'Permission', held, { ...held, can_delegate: true }, true],
  ['a denial', 'Permission', null, { agent_id: '*', effect: 'deny' }, false],
  ['an agent that needs permissions', 'AgentMode', null, { agent_id: 'a', mode: 'granted' }, false],
  ['an agent that needs none', 'AgentMode', null, { agent_id: 'a', mode: 'open' }, true],
  [
    'a stricter default',
    'Settings',
    { default_effect: 'allow' },
    { default_effect: 'deny' },
    false,
  ],
  ['a laxer default', 'Settings', { default_effect: 'deny' }, { default_effect: 'allow' }, true],
  ['four eyes', 'Settings', { four_eyes: false }, { four_eyes: true }, false],
  ['two eyes', 'Settings', { four_eyes: true }, { four_eyes: false }, true],
  [
    'further consequential actions',
    'Settings',
    { consequential_actions: ['a'] },
    { consequential_actions: ['a', 'b'] },
    false,
  ],
  ['a new trust', 'TrustPolicy', null, { effect: 'allow' }, true],
  ['a new distrust', 'TrustPolicy', null, { effect: 'deny' }, false],
  ['an object as it is', 'Policy', allow, allow, false],
])('%s', (_, kind, before, after, expected) => {
  const change = before === null ? 'create' : after === null ? 'delete' : 'replace'
  const made = weakens({ change, kind, before: wholeOf(kind, before), after: wholeOf(kind, after) })
  expect(made).toBe(expected)
})

test('what leaves a set keeps its value', () => {
  expect(weakens({ change: 'release', kind: 'AgentMode', before: {}, after: null })).toBe(false)
})
