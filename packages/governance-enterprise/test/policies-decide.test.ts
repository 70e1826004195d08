import { setPlan, setSettings } from '@remit/core/orgs'
import { cpuMsOf, createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'

describe.each(someDialects())('policies in POST /v1/authorize on %s', (dialect) => {
  let root: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock(NOW)
    root = await createApi({ dialect, clock })
  })
  afterAll(() => root.remit.close())

  const anew = async () => root.as(await root.remit.organization())
  const ask = (api: Api, body: object = {}) =>
    api.ok('authorize', { body: { agent_id: 'payer', action: 'payments.transfer', ...body } })
  const reasonOf = async (api: Api, body: object = {}) => (await ask(api, body)).reason
  const create = (api: Api, body: object) => api.ok('createPolicy', { body })

  it('a deny overrides every allow, gives its reason, and is named in the entry', async () => {
    const api = await anew()
    await create(api, { effect: 'allow' })
    const { id } = await create(api, {
      effect: 'deny',
      description: 'No transfers on Fridays.',
      actions: ['payments.*'],
      condition: "now.getDayOfWeek('UTC') == 5",
    })

    const answer = await ask(api)

    expect(answer).toMatchObject({
      decision: 'deny',
      reason: 'policy_deny',
      message: 'No transfers on Fridays.',
      matched: [{ kind: 'policy', id }],
    })
    const entry = await api.ok('getEntry', { params: { seq: answer.ledger.seq } })
    expect(entry).toMatchObject({
      decision: 'deny',
      reason: 'policy_deny',
      data: { matched: [{ kind: 'policy', id }] },
    })
  })

  it('an allow is named; without a match the default of the organization decides', async () => {
    const api = await anew()
    const { id } = await create(api, { effect: 'allow', actions: ['payments.*'] })

    expect(await ask(api)).toMatchObject({
      decision: 'allow',
      reason: 'policy_allow',
      matched: [{ kind: 'policy', id }],
    })
    expect(await reasonOf(api, { action: 'mail.send' })).toBe('default_allow')
    await setSettings(root.remit.writer, api.org.id, { default_effect: 'deny' })
    expect(await ask(api, { action: 'mail.send' })).toMatchObject({
      decision: 'deny',
      reason: 'default_deny',
    })
    expect(await reasonOf(api)).toBe('policy_allow')
  })

  it('a condition that ends in an error denies in a deny, and is no match in an allow', async () => {
    const api = await anew()
    const condition = 'context.amount > 1000'
    const { id } = await create(api, { effect: 'deny', actions: ['payments.*'], condition })
    await create(api, { effect: 'allow', actions: ['mail.*'], condition })

    expect(await ask(api, { context: {} })).toMatchObject({
      decision: 'deny',
      reason: 'policy_error',
      matched: [{ kind: 'policy', id }],
    })
    expect(await reasonOf(api, { context: { amount: '5000' } })).toBe('policy_error')
    expect(await reasonOf(api, { context: { amount: null } })).toBe('policy_error')
    expect(await reasonOf(api, { context: { amount: 1000 } })).toBe('default_allow')
    expect(await reasonOf(api, { action: 'mail.send', context: {} })).toBe('default_allow')
    expect(await reasonOf(api, { action: 'mail.send', context: { amount: 1001 } })).toBe(
      'policy_allow',
    )
  })

  it('a rule that is switched off, not yet or no longer in force does not count', async () => {
    const api = await anew()
    await create(api, { effect: 'deny', enabled: false })
    await create(api, {
      effect: 'deny',
      not_before: '2026-11-20T08:00:01.000Z',
      expires_at: '2026-11-20T08:00:02.000Z',
    })
    const at = async (time: string) => {
      clock.set(time)
      return reasonOf(api)
    }

    expect(await at('2026-11-20T08:00:00.999Z')).toBe('default_allow')
    expect(await at('2026-11-20T08:00:01.000Z')).toBe('policy_deny')
    expect(await at('2026-11-20T08:00:01.999Z')).toBe('policy_deny')
    expect(await at('2026-11-20T08:00:02.000Z')).toBe('default_allow')
  })

  it('resources are patterns too; without a resource only `*` matches', async () => {
    const api = await anew()
    await create(api, { effect: 'deny', resources: ['account:DE*', 'tool:shell'] })

    expect(await reasonOf(api, { resource: 'account:DE12' })).toBe('policy_deny')
    expect(await reasonOf(api, { resource: { type: 'tool', id: 'shell' } })).toBe('policy_deny')
    expect(await reasonOf(api, { resource: 'account:AT12' })).toBe('default_allow')
    expect(await reasonOf(api)).toBe('default_allow')
    await create(api, { effect: 'deny', resources: ['nothing:*', '*'] })
    expect(await reasonOf(api)).toBe('policy_deny')
  })

  it('conditions read the request, its resource, the agent and the person it acts for', async () => {
    const api = await anew()
    await create(api, {
      effect: 'deny',
      condition:
        "resource.type == 'account' && resource.id == 'DE:12' && resource.properties == {} && subject == {'type': 'agent', 'id': agent_id} && agent == {} && action_properties == {}",
    })

    expect(await reasonOf(api, { resource: 'account:DE:12' })).toBe('policy_deny')
    expect(await reasonOf(api, { resource: 'account:DE:13' })).toBe('default_allow')
  })

  describe('hostile requests', () => {
    it.each([
      { amount: { $typeName: 'google.protobuf.Int32Value', value: 1, usd: 5000 } },
      { $typeName: 'google.protobuf.Struct', fields: {}, amount: 5000 },
      { $typeName: 'google.protobuf.Int32Value', value: 1, amount: 5000 },
    ])('%j does not slip under a limit', async (context) => {
      const api = await anew()
      await create(api, { effect: 'deny', condition: 'context.amount > 1000' })

      expect((await ask(api, { context })).decision).toBe('deny')
    })

    it('names of prototypes are names like others', async () => {
      const api = await anew()
      await create(api, {
        effect: 'deny',
        condition: 'has(context.constructor) || has(context.__proto__) || has(context.toString)',
      })
      const send = (context: string) =>
        api.ok('authorize', {
          body: `{"agent_id":"a","action":"b.c","context":${context}}`,
        })

      expect((await send('{"amount":1}')).reason).toBe('default_allow')
      for (const context of ['{"constructor":1}', '{"__proto__":{"a":1}}', '{"toString":""}'])
        expect((await send(context)).reason).toBe('policy_deny')
    })

    it('an action with an invisible character is refused, so it cannot evade an exact deny', async () => {
      const api = await anew()
      await create(api, { effect: 'deny', actions: ['payments.transfer'] })

      for (const action of ['payments.transfer\u200b', 'payments\u00ad.transfer', 'payments.*']) {
        const problem = await api.refusal('authorize', { body: { agent_id: 'a', action } })
        expect(problem.errors).toMatchObject([{ path: 'action' }])
      }
    })

    it('a pattern that makes others backtrack is answered at once', async () => {
      const api = await anew()
      await create(api, { effect: 'deny', condition: "context.text.matches('^(a+)+$')" })
      const context = { text: `${'a'.repeat(5_000)}!` }
      const took = await cpuMsOf(async () =>
        expect(await reasonOf(api, { context })).toBe('default_allow'),
      )

      expect(took).toBeLessThan(1_000)
    })

    it('a list that is too long for a loop is an error, which denies', async () => {
      const api = await anew()
      await create(api, { effect: 'deny', condition: 'context.items.exists(item, item > 1)' })
      const items = (length: number) => ({ context: { items: Array(length).fill(0) as number[] } })

      expect(await reasonOf(api, items(1_000))).toBe('default_allow')
      expect(await reasonOf(api, items(1_001))).toBe('policy_error')
    })

    it('members that are null are not there', async () => {
      const api = await anew()
      await create(api, { effect: 'deny', condition: 'has(context.a) || has(context.b.c)' })

      expect(await reasonOf(api, { context: { a: null, b: { c: null } } })).toBe('default_allow')
      expect(await reasonOf(api, { context: { a: null, b: { c: 0 } } })).toBe('policy_deny')
    })
  })

  it('on the team plan rules stay, do not count, and are named in a warning', async () => {
    const api = await anew()
    await create(api, { effect: 'deny' })
    await setPlan(root.remit.writer, api.org.id, 'team')

    expect(await ask(api)).toMatchObject({
      decision: 'allow',
      warnings: ['policies_not_in_plan'],
    })
    const without = root.as(await root.remit.organization('team'))
    expect(await ask(without)).not.toHaveProperty('warnings')

    await setPlan(root.remit.writer, api.org.id, 'enterprise')
    expect(await reasonOf(api)).toBe('policy_deny')
  })
})
