import { ApprovalRuleInput, PolicyInput, PropertySpec } from '@remit/contract'
import type { PolicyOverlay, PropertyResult } from '@remit/contract'
import type { Overlay } from '@remit/core/decision'
import { defineModule } from '@remit/core/module'
import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import governance from '../src/index.ts'
import { searchProperties } from '../src/properties/search.ts'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const NOTHING: Overlay = { add: [], remove: [] }
const PAYMENTS = { actions: ['payments.*'] }
const LARGE = { actions: ['payments.*'], condition: '!has(amount_usd) || amount_usd > 100.0' }
/** No payment above 100 USD, and none without an amount, is made without an approval. */
const GUARDED = {
  for: { ...PAYMENTS, when: '!has(amount_usd) || amount_usd > 100.0' },
  never: 'allow',
}
const MAIL_DENIED = { for: { actions: ['mail.send'], agents: ['bot'] }, never: 'allow' }

/** More agents than a search reads, the last ones beyond. */
const AGENTS = [
  ...Array.from({ length: 502 }, (_, i) => `a${String(i).padStart(4, '0')}`),
  'prod-0',
  'q-0',
  'a',
  'ax',
].map((id) => {
  const attributes = { environment: id.startsWith('a') ? 'dev' : 'prod' }
  return [id, { status: 'active', reason: null, owners: [], attributes }] as const
})
const manyAgents = defineModule({
  name: 'agents',
  setup: () => ({
    provides: {
      agentRegistry: {
        load: () => Promise.resolve(new Map(AGENTS)),
        suspend: () => Promise.resolve(null),
        resume: () => Promise.resolve(null),
      },
    },
  }),
})

describe.each(someDialects())('a search on %s', (dialect) => {
  let all: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock()
    all = await createApi({ dialect, clock })
  })
  afterAll(() => all.remit.close())

  const search = async (
    api: Api,
    spec: object,
    overlay: Overlay = NOTHING,
    signal?: AbortSignal,
    decider: Pick<Api['remit']['decider'], 'preview'> = api.remit.decider,
  ) => {
    const { remit, org } = api
    const { db, ports } = remit
    const deps = { db, clock, decider, offered: (name: keyof typeof ports) => ports[name] }
    const property = { name: 'p', spec: PropertySpec.parse(spec) }
    const [result] = await searchProperties(
      deps as never,
      org.id,
      { overlay, added: [] },
      [property],
      {
        ...(signal && { signal }),
      },
    )
    return result as PropertyResult
  }
  /** Large payments need an approval, and mail of the agent `bot` is denied. */
  const guarded = async () => {
    const api = all.as(await all.remit.organization())
    await api.ok('setApprovalRule', { params: { id: 'large' }, body: LARGE })
    const { id } = await api.ok('createPolicy', {
      body: { effect: 'deny', agents: ['bot'], actions: ['mail.*'] },
    })
    return { api, id }
  }
  const rule = (input: object): PolicyOverlay['approval_rules'] => ({
    set: [{ id: 'large', ...ApprovalRuleInput.parse(input) }],
    remove: [],
  })

  it('has no requests that only the server makes', async () => {
    const { api } = await guarded()
    const two = { agents: ['remit.rules'], actions: ['remit.rules.apply'] }
    await api.ok('setApprovalRule', { params: { id: 'two' }, body: two })

    const found = await search(api, { for: { actions: ['*'] }, never: 'allow' })
    expect(found.result).toBe('violated')
    expect(found.counterexample?.action).not.toMatch(/^remit\.rules\./)
    const own = await search(api, { for: { actions: two.actions }, never: 'allow' })
    expect(own).toMatchObject({ cases: 0, counterexample: null })
  })

  it('proves what the rules keep', async () => {
    const { api } = await guarded()

    for (const spec of [GUARDED, MAIL_DENIED])
      expect(await search(api, spec)).toEqual({
        name: 'p',
        result: 'proved',
        require: 'searched',
        cases: expect.any(Number),
        of: expect.any(Number),
        because: [],
        counterexample: null,
      })
  })

  it.each<[string, object, (id: string) => Overlay, object]>([
    [
      'removing the approval rule',
      GUARDED,
      () => ({ ...NOTHING, approval_rules: { set: [], remove: ['large'] } }),
      { action: 'payments.x', context: {} },
    ],
    [
      'a threshold that is a cent higher',
      GUARDED,
      () => ({
        ...NOTHING,
        approval_rules: rule({ ...LARGE, condition: '!has(amount_usd) || amount_usd > 100.01' }),
      }),
      { action: 'payments.x', context: { amount_usd: expect.any(Number) } },
    ],
    [
      'a broad allow',
      { for: { actions: ['mail.send'] }, never: 'allow' },
      () => ({ ...NOTHING, default_effect: 'deny', add: [PolicyInput.parse({ effect: 'allow' })] }),
      { action: 'mail.send', context: {} },
    ],
    [
      'a deny that is disabled',
      MAIL_DENIED,
      (id) => ({ add: [], remove: [id] }),
      { agent_id: 'bot', action: 'mail.send', context: {} },
    ],
  ])('finds the weakening: %s', async (_, spec, weaken, expected) => {
    const { api, id } = await guarded()

    const { result, counterexample } = await search(api, spec, weaken(id))

    expect([result, counterexample]).toEqual(['violated', expect.objectContaining(expected)])
    const { resource, at, ...asked } = counterexample ?? { resource: null, at: '' }
    const [said] = await api.remit.decider.preview(
      api.org.id,
      'enterprise',
      [{ ...(asked as { agent_id: string; action: string }), ...(resource && { resource }) }],
      { overlay: weaken(id), at: Date.parse(at) },
    )
    expect(said?.decision).toBe('allow')
  })

  it('says why it proves nothing: functions of texts, patterns, agents and too many cases', async () => {
    const { api } = await guarded()
    const deny = (input: object): Overlay => ({
      ...NOTHING,
      add: [PolicyInput.parse({ effect: 'deny', ...input })],
    })
    const starts = deny({ condition: 'has(context.to) && context.to.startsWith("a")' })
    const scoped = { for: { ...GUARDED.for, when: 'context.to.startsWith("a")' }, never: 'allow' }

    for (const [spec, overlay, why] of [
      [MAIL_DENIED, starts, 'overlay.0 calls `startsWith`'],
      [scoped, starts, '`when` calls `startsWith`'],
      [MAIL_DENIED, deny({ actions: ['*.send'] }), 'the pattern *.send'],
      [MAIL_DENIED, deny({ condition: 'agent.environment == "x"' }), 'reads `agent.environment`'],
      [MAIL_DENIED, deny({ condition: 'context.a == context.b' }), 'with each other'],
      [{ ...GUARDED, max_cases: 2 }, NOTHING, 'and 2 of them were decided'],
    ] as const) {
      const { result, because } = await search(api, spec, overlay)
      expect([result, because.join('; ')]).toEqual(['searched', expect.stringContaining(why)])
    }
  })

  it('counts suspended and unknown agents as active, and those that act on grants as they are', async () => {
    const { api } = await guarded()
    await api.remit.ports.agentSwitch?.suspend(api.org.id, 'bot', 'test')
    const settings = { unknown_agents: 'deny' }
    await api.ok('changeOrganization', { body: { settings } })
    await api.ok('grantPermission', {
      params: { id: 'read' },
      body: { agent_id: 'clerk', actions: ['docs.*'] },
    })
    const never = (agents: string[], actions: string[]) => ({
      for: { agents, actions },
      never: 'allow',
    })

    expect(await search(api, never(['bot'], ['x']))).toMatchObject({ result: 'violated' })
    expect(await search(api, never(['clerk'], ['mail.*']))).toMatchObject({ result: 'proved' })
    expect(await search(api, never(['clerk'], ['docs.*']))).toMatchObject({ result: 'violated' })
  })

  it('finds the time at which a rule ends', async () => {
    const { api, id } = await guarded()
    const expires_at = '2026-11-20T09:00:00.000Z'
    const body = { effect: 'deny', agents: ['bot'], actions: ['mail.*'], expires_at }
    const overlay = { add: [PolicyInput.parse(body)], remove: [id] }

    const { result, counterexample } = await search(api, MAIL_DENIED, overlay)

    expect([result, counterexample?.at]).toEqual(['violated', expires_at])
  })

  it('searches denials by rules alone, and says so', async () => {
    const { api } = await guarded()
    const reads = { for: { actions: ['docs.read'] }, never: 'deny' }

    expect(await search(api, reads)).toMatchObject({
      result: 'proved',
      because: [expect.stringContaining('not spend limits')],
    })
    expect(await search(api, { ...MAIL_DENIED, never: 'deny' })).toMatchObject({
      result: 'violated',
      because: [expect.stringContaining('not spend limits')],
    })
  })

  it('knows the agents that are named, however many there are', async () => {
    const registry = await createApi({ dialect, clock, modules: [governance, manyAgents] })
    const read = (agents: string[], action = 'x') => ({
      for: { agents, actions: [action] },
      never: 'deny',
    })
    const condition = 'agent.environment == "prod"'
    await registry.ok('createPolicy', { body: { effect: 'deny', actions: ['x'], condition } })

    for (const [agents, result] of [
      [['a0500'], 'searched'],
      [['prod-0'], 'violated'],
      [['a0499', 'a0500'], 'searched'],
    ] as const) {
      const found = await search(registry, read([...agents]))
      expect([agents, found.result, found.because.join()]).toEqual([
        agents,
        result,
        expect.not.stringContaining('live decisions'),
      ])
    }
    const known = `has(agent.environment) && ${condition}`
    for (const [action, agents, agent_id, one] of [
      ['y', ['*'], 'prod-0', `agent_id == "prod-0" && ${known}`],
      ['z', ['q*'], 'q-0', known],
    ] as const) {
      const body = { effect: 'deny', actions: [action], condition: one }
      await registry.ok('createPolicy', { body })
      expect(await search(registry, read([...agents], action))).toMatchObject({
        result: 'violated',
        counterexample: { agent_id },
      })
    }
    // The search takes `a` and `ax` for names of no agent.
    expect(await search(registry, read(['a*']))).toMatchObject({
      result: 'searched',
      counterexample: null,
      because: expect.arrayContaining([
        'a request of the agent a for x was found, but live decisions say allow to it',
      ]),
    })
    await registry.remit.close()
  })

  it('begins anew if the rules change before a request that was found is confirmed', async () => {
    const { api } = await guarded()
    const { decider } = api.remit
    const changing: Pick<typeof decider, 'preview'> = {
      async preview(...args) {
        await api.ok('createPolicy', { body: { effect: 'deny' } })
        return decider.preview(...args)
      },
    }
    const mail = { for: { actions: ['mail.send'] }, never: 'allow' }

    expect(await search(api, mail)).toMatchObject({ result: 'violated' })
    await expect(search(api, mail, NOTHING, undefined, changing)).rejects.toMatchObject({
      code: 'rules_changed',
    })
  })

  it('is refused where no time is left for it', async () => {
    const { api } = await guarded()
    const { db, decider, ports } = api.remit
    const deps = { db, clock, decider, offered: (name: keyof typeof ports) => ports[name] }
    const property = { name: 'p', spec: PropertySpec.parse(GUARDED) }
    const rules = { overlay: NOTHING, added: [] }
    const until = performance.now() + 1_000

    await expect(
      searchProperties(deps as never, api.org.id, rules, [property], { until }),
    ).rejects.toMatchObject({ code: 'jobs_busy' })
  })

  it('ends with the reason of its signal', async () => {
    const { api } = await guarded()
    const gone = new Error('the client has gone')

    await expect(search(api, GUARDED, NOTHING, AbortSignal.abort(gone))).rejects.toBe(gone)
    const later = new AbortController()
    const running = search(api, GUARDED, NOTHING, later.signal)
    later.abort(gone)
    await expect(running).rejects.toBe(gone)
  })
})
