import { isDeepStrictEqual } from 'node:util'
import type { AuthorizeRequest } from '@remit/contract'
import { setPlan } from '@remit/core/orgs'
import { createClock, runs, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'
import { decide } from './support/approvals.ts'
import { dump } from './support/dump.ts'

const agent = fc.constantFrom('a', 'b')
const condition = fc.constantFrom(
  null,
  null,
  'context.amount > 3.0',
  'has(context.amount) && context.amount > 3.0',
  "resource.id == '1'",
  'has(context.flag) && context.flag',
  "now > timestamp('2026-11-20T08:02:00Z')",
)
const target = {
  agents: fc.constantFrom(['a'], ['*'], ['b', 'c']),
  actions: fc.constantFrom(['pay.send'], ['pay.*'], ['*']),
  resources: fc.constantFrom(['*'], ['doc:1']),
  condition,
}
const policy = fc.record({
  effect: fc.constantFrom('allow', 'allow', 'deny'),
  ...target,
  expires_at: fc.constantFrom(null, null, '2026-11-20T08:03:00.000Z'),
})
const approvalRule = fc.record({
  ...target,
  // Longer than any run: what runs out is recorded from time to time, also between two dumps.
  request_ttl_seconds: fc.constant(86_400),
  approval_ttl_seconds: fc.constant(86_400),
  rejection_cooldown_seconds: fc.constantFrom(0, 60),
})
const limit = fc.record({
  daily_usd: fc.constantFrom(0, 5, 12),
  on_missing_amount: fc.constantFrom('zero', 'deny'),
  hold_ttl_seconds: fc.constantFrom(null, 20, 60),
})

const question: fc.Arbitrary<AuthorizeRequest> = fc.record(
  {
    agent_id: agent,
    action: fc.constantFrom('pay.send', 'pay.get', 'mail.send'),
    resource: fc.constantFrom('', 'doc:1', 'doc:2'),
    context: fc.record(
      { amount: fc.constantFrom(1, 4, 7, 'much'), flag: fc.boolean() },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['agent_id', 'action'] },
)

/** Events of an organization, mostly requests. */
const anyStep = fc.oneof(
  { weight: 8, arbitrary: fc.record({ does: fc.constant('ask' as const), request: question }) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('vote' as const),
      decision: fc.constantFrom('approve', 'approve', 'reject'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('switch' as const), agent, on: fc.boolean() }),
  },
)
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never

const world = fc.record({
  default_effect: fc.constantFrom('allow', 'allow', 'deny'),
  plan: fc.constantFrom('enterprise' as const, 'enterprise' as const, 'team' as const),
  policies: fc.array(policy, { maxLength: 3 }),
  approvalRules: fc.array(approvalRule, { maxLength: 2 }),
  limits: fc.dictionary(agent, limit, { maxKeys: 2 }),
  steps: fc.array(fc.tuple(anyStep, fc.constantFrom(0, 0, 1, 19, 21, 61)), {
    minLength: 4,
    maxLength: 12,
  }),
})
type World = typeof world extends fc.Arbitrary<infer T> ? T : never

describe.each(someDialects())('a preview on %s', (dialect) => {
  let all: Api
  let clock: TestClock
  const seen = new Set<string>()
  beforeAll(async () => {
    clock = createClock()
    all = await createApi({ dialect, clock })
  })
  afterAll(() => all.remit.close())

  const made = async ({ default_effect, policies, approvalRules, limits, plan }: World) => {
    const api = all.as(await all.remit.organization('enterprise'))
    await api.ok('changeOrganization', { body: { settings: { default_effect } } })
    for (const body of policies) await api.ok('createPolicy', { body })
    for (const [i, body] of approvalRules.entries())
      await api.ok('setApprovalRule', { params: { id: `rule-${i}` }, body })
    for (const [id, body] of Object.entries(limits))
      await api.ok('setSpendLimit', { params: { id }, body })
    if (plan === 'team') await setPlan(api.remit.writer, api.org.id, 'team')
    return api
  }

  /** Previews a request as of the time at which it will be asked, then at that time, then asks. */
  async function ask(api: Api, one: World, request: AuthorizeRequest, seconds: number) {
    const before = await dump(api.remit.db, api.org.id)
    const early = await preview(api, one, request, clock.now() + seconds * 1000)
    clock.advance(seconds * 1000)
    const now = await preview(api, one, request)
    const after = await dump(api.remit.db, api.org.id)
    const { decision, reason, message, matched, warnings, retry_at } = await api.ok('authorize', {
      body: request,
    })
    seen.add(reason)
    const live = {
      decision,
      reason,
      message,
      matched,
      warnings: warnings ?? [],
      ...(retry_at !== undefined && { retry_at }),
    }
    return [
      ...(isDeepStrictEqual(before, after) ? [] : [{ before, after }]),
      ...[early, now]
        .filter((shown) => !isDeepStrictEqual(shown, live))
        .map((shown) => [shown, live]),
    ]
  }

  it('equals the next live decision, and changes nothing', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(world, async (one) => {
        const api = await made(one)
        const faults: unknown[] = []
        for (const [what, seconds] of one.steps) {
          if (what.does !== 'ask') await perform(api, what)
          else faults.push(...(await ask(api, one, what.request, seconds)))
        }
        expect(faults).toEqual([])
      }),
      { numRuns: runs(dialect === 'sqlite' ? 40 : 12) },
    )
    // Not all of them the same.
    expect(seen.size).toBeGreaterThan(4)
  })
})

async function preview(api: Api, { plan }: World, request: AuthorizeRequest, at?: number) {
  const { remit, org } = api
  const options = at === undefined ? {} : { at }
  const [one] = await remit.decider.preview(org.id, plan, [request], options)
  const { trace: _, ...shown } = one ?? { trace: [] }
  return shown
}

async function perform(api: Api, step: Exclude<Step, { does: 'ask' }>): Promise<void> {
  if (step.does === 'switch') {
    const { agentSwitch } = api.remit.ports
    await (
      step.on
        ? agentSwitch?.resume(api.org.id, step.agent)
        : agentSwitch?.suspend(api.org.id, step.agent, 'test')
    )?.catch(() => undefined)
    return
  }
  const { status } = await api.call('listApprovals')
  if (status !== 200) return
  const { data } = await api.ok('listApprovals', { query: { status: 'pending' } })
  const [first] = data
  if (first) await decide(api, first.id, { decision: step.decision })
}
