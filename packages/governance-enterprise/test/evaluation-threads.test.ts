import type { AuthorizeRequest } from '@remit/contract'
import { createClock, someDialects } from '@remit/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

/** Together they exceed the time limit of a decision on any machine. */
const HEAVY = Array.from(
  { length: 12 },
  (_, i) => `context.many.exists(x, !(x in context.many) && x != ${i}.0)`,
)
const MANY = Array.from({ length: 900 }, (_, i) => i)
const SLOW: AuthorizeRequest = { agent_id: 'slow', action: 'mail.read', context: { many: MANY } }

/** Requests for which rules of each stage decide, and their decisions. */
const CASES: readonly [string, AuthorizeRequest, object][] = [
  [
    'no rule',
    { agent_id: 'a', action: 'mail.read' },
    { decision: 'allow', reason: 'default_allow' },
  ],
  [
    'a permission',
    { agent_id: 'denied', action: 'mail.send', context: { spam: true } },
    { decision: 'deny', reason: 'agent_denied', matched: [{ kind: 'permission', id: 'no-spam' }] },
  ],
  [
    'a denying policy',
    { agent_id: 'a', action: 'pay.send', resource: 'account:7', context: { amount: 500 } },
    { decision: 'deny', reason: 'policy_deny', message: 'Too much.' },
  ],
  [
    'a policy whose condition fails',
    { agent_id: 'a', action: 'pay.send', resource: 'account:7', context: {} },
    { decision: 'deny', reason: 'policy_error' },
  ],
  [
    'a policy about a replaced place',
    {
      agent_id: 'a',
      action: 'pay.send',
      resource: 'account:7',
      context: { amount: 5 },
      replaced: ['/amount'],
    },
    { decision: 'deny', reason: 'policy_error' },
  ],
  [
    'a policy about an omitted member',
    {
      agent_id: 'a',
      action: 'omit.any',
      context: { args: {}, omitted: { '/iban': 'k4_PEB9N' } },
    },
    { decision: 'deny', reason: 'policy_error' },
  ],
  [
    'an allowing policy at this time',
    { agent_id: 'a', action: 'pay.send', resource: 'account:7', context: { amount: 5 } },
    { decision: 'allow', reason: 'policy_allow' },
  ],
  [
    'an approval rule after an allowing policy',
    { agent_id: 'a', action: 'pay.send', resource: 'account:1', context: { amount: 5 } },
    { decision: 'needs_approval', reason: 'approval_required' },
  ],
  ['conditions beyond their limits', SLOW, { decision: 'deny', reason: 'policy_error' }],
]

describe.each(someDialects())('conditions evaluated in threads on %s', (dialect) => {
  let heavy: Api
  let other: Api
  let threads = 0
  const count = () => threads++

  beforeAll(async () => {
    heavy = await createApi({ dialect, clock: createClock() })
    other = heavy.as(await heavy.remit.organization())
    const policies = [
      ...HEAVY.map((condition) => ({ effect: 'deny', agents: ['slow'], condition })),
      {
        effect: 'deny',
        actions: ['pay.*'],
        condition: 'context.amount > 100.0',
        description: 'Too much.',
      },
      { effect: 'deny', actions: ['omit.*'], condition: 'has(context.args.iban)' },
      {
        effect: 'allow',
        actions: ['pay.*'],
        condition: "now >= timestamp('2026-11-20T08:00:00Z') && resource.type == 'account'",
      },
    ]
    for (const body of policies) await heavy.ok('createPolicy', { body })
    await heavy.ok('setApprovalRule', {
      params: { id: 'first-account' },
      body: { actions: ['pay.*'], condition: "resource.id == '1'" },
    })
    await heavy.ok('grantPermission', {
      params: { id: 'no-spam' },
      body: { agent_id: 'denied', effect: 'deny', condition: 'context.spam' },
    })
  })
  afterAll(() => heavy.remit.close())
  beforeEach(() => {
    threads = 0
    process.on('worker', count)
  })
  afterEach(() => process.off('worker', count))

  const decide = (api: Api, body: AuthorizeRequest) => api.ok('authorize', { body })

  it('give the same decisions', async () => {
    const beOther = () => decide(other, { agent_id: 'a', action: 'mail.read' })
    for (;;) {
      await beOther()
      await decide(heavy, SLOW)
      if (threads > 0) break
    }
    for (const [name, request, expected] of CASES) {
      await beOther()
      const [, answer] = await Promise.all([decide(heavy, SLOW), decide(heavy, request)])
      expect.soft(answer, name).toMatchObject(expected)
    }
  })

  it('give the same previews', async () => {
    const requests = [SLOW, ...CASES.map(([, request]) => request)]
    // The first one shows that the organization computes for long.
    for (let i = 0; i < 2; i++) {
      const previews = await heavy.remit.decider.preview(heavy.org.id, 'enterprise', requests)
      expect(previews.slice(1)).toMatchObject(CASES.map(([, , expected]) => expected))
    }
  })
})
