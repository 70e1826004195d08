import { resumeOrganization, setLimits, setSettings, suspendOrganization } from '@remit/core/orgs'
import { apiOf, createClock, createTestRemit, fullDialects } from '@remit/testing'
import type { Api, TestClock, TestRemit } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasModules, loadModules } from '../src/boot/modules.ts'

const DIALECTS = fullDialects()

const START = '2026-11-30T23:59:00.000Z'
const body = { agent_id: 'payer', action: 'a.b' }

describe.skipIf(!hasModules()).each(DIALECTS)('limits of an organization on %s', (dialect) => {
  let remit: TestRemit
  let second: TestRemit
  let clock: TestClock
  let api: Api
  /** The same organization on another process. */
  let other: Api
  beforeAll(async () => {
    clock = createClock(START)
    const modules = await loadModules()
    remit = await createTestRemit({ dialect, clock, modules })
    const { url, signingKey } = remit
    second = await createTestRemit({ url, signingKey, clock, modules })
  })
  afterAll(async () => {
    await second.close()
    await remit.close()
  })
  beforeEach(async () => {
    clock.set(START)
    api = apiOf(remit, await remit.organization())
    other = apiOf(second, api.org)
  })

  const limit = (change: object) => setLimits(remit.writer, api.org.id, { ...change })
  const decisions = async () => {
    const { data } = await api.ok('listEntries', { query: { kind: 'authorization.decided' } })
    return data.length
  }

  it('a monthly limit admits exactly so many decisions, on all processes together, until the next month', async () => {
    await limit({ decisions_per_month: 7 })
    const asks = Array.from({ length: 20 }, (_, i) =>
      (i % 2 === 0 ? api : other).call('authorize', { body }),
    )
    const statuses = (await Promise.all(asks)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(7)
    expect(statuses.filter((status) => status === 429)).toHaveLength(13)
    expect(await decisions()).toBe(7)

    const refused = await api.call('authorize', { body })
    expect(refused.headers.get('retry-after')).toBe('60')
    expect(await refused.json()).toMatchObject({ code: 'quota_exceeded' })
    clock.advance(60_000)
    await api.ok('authorize', { body })
  })

  const evaluation = {
    subject: { type: 'agent', id: 'payer' },
    action: { name: 'a.b' },
    resource: { type: 'account', id: '1' },
  }
  const toolCall = { hook_event_name: 'PreToolUse', session_id: '1', tool_name: 'Bash' }
  it.each([
    ['authorize', () => body],
    ['accessEvaluation', () => evaluation],
    ['accessEvaluations', () => evaluation],
    ['claudeCodeHook', (tool_use_id: string) => ({ ...toolCall, tool_use_id })],
    ['codexHook', (tool_use_id: string) => ({ ...toolCall, tool_use_id })],
    ['litellmGuardrail', () => ({ input_type: 'request', texts: ['hello'] })],
  ] as const)('a monthly limit refuses the decisions of %s', async (name, asked) => {
    await limit({ decisions_per_month: 1 })
    await api.ok(name, { body: asked('first') })
    expect((await api.refusal(name, { body: asked('second') })).code).toBe('quota_exceeded')
  })

  it('overage goes on beyond the monthly limit, and a higher limit is in force at once', async () => {
    await limit({ decisions_per_month: 1 })
    await api.ok('authorize', { body })
    expect((await other.refusal('authorize', { body })).code).toBe('quota_exceeded')
    await limit({ decisions_per_month: 2 })
    await other.ok('authorize', { body })
    expect((await other.refusal('authorize', { body })).code).toBe('quota_exceeded')
    await setSettings(remit.writer, api.org.id, { at_monthly_limit: 'overage' })
    await other.ok('authorize', { body })
    expect(await decisions()).toBe(3)
  })

  it('a limit per second refuses the decisions beyond it with Retry-After', async () => {
    await limit({ decisions_per_second: 1 })
    // The first request tells the process of the limit.
    await api.ok('authorize', { body })
    const asks = Array.from({ length: 30 }, () => api.call('authorize', { body }))
    const responses = await Promise.all(asks)
    const refused = responses.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused[0]?.headers.get('retry-after')).toBe('1')
    expect(await refused[0]?.json()).toMatchObject({ code: 'rate_limited' })
  })

  it('agents, policies, budgets, webhooks and the retention have limits', async () => {
    await limit({ agents: 1, policies: 1, budgets: 1, webhooks: 1, retention_days: 400 })
    const owners = [{ type: 'user', id: 'ada' }]
    await api.ok('registerAgent', { body: { agent_id: 'one', owners } })
    const agent = await api.refusal('registerAgent', { body: { agent_id: 'two', owners } })
    expect(agent).toMatchObject({
      code: 'too_many_agents',
      detail: 'The organization can have at most 1 agents',
    })
    const policy = { effect: 'deny', actions: ['x.y'] }
    await api.ok('createPolicy', { body: policy })
    expect((await api.refusal('createPolicy', { body: policy })).code).toBe('too_many_policies')
    const budget = { unit: 'usd', window: 'day', limit: 1 }
    await api.ok('setBudget', { params: { id: 'one' }, body: budget })
    await api.ok('setBudget', { params: { id: 'one' }, body: { ...budget, limit: 2 } })
    const another = await api.refusal('setBudget', { params: { id: 'two' }, body: budget })
    expect(another.code).toBe('too_many_budgets')
    const hook = { url: 'https://hooks.example.com/x', events: ['approval.requested'] }
    await api.ok('createWebhook', { body: hook })
    expect((await api.refusal('createWebhook', { body: hook })).code).toBe('too_many_webhooks')
    const settings = { retention_days: 401 }
    const problem = await api.refusal('changeOrganization', { body: { settings } })
    expect(problem.errors).toMatchObject([{ message: 'must be at most 400 for this organization' }])
  })

  it('limits are the operator’s: shown, recorded, and no setting of the organization', async () => {
    await limit({ decisions_per_month: 5, agents: 3 })
    await limit({ agents: null })
    const shown = await api.ok('getOrganization')
    expect(shown.limits).toEqual({ decisions_per_month: 5 })
    const { data } = await api.ok('listEntries', { query: { kind: 'organization.updated' } })
    expect(data[0]).toMatchObject({
      actor: { type: 'system' },
      data: { organization: { limits: { decisions_per_month: 5 } } },
    })
    const change = { settings: { decisions_per_month: 9 } }
    expect((await api.refusal('changeOrganization', { body: change })).code).toBe('invalid_request')
    await expect(limit({ agents: 0 })).rejects.toThrow('agents: must be a whole number')
    await expect(limit({ cars: 1 })).rejects.toThrow('is not a limit; the limits are')
  })

  it('a suspended organization can verify its ledger and end its keys, credentials and people', async () => {
    const { key } = await api.ok('createKey', { body: { role: 'ingest' } })
    const owners = [{ type: 'user', id: 'ada' }]
    const agent = { agent_id: 'one', owners, allowed_scopes: ['authorize'] }
    await api.ok('registerAgent', { body: agent })
    const issued = { params: { agentID: 'one' }, body: { scopes: ['authorize'] } }
    const { credential } = await api.ok('issueCredential', issued)
    const person = await api.ok('invitePerson', {
      body: { email: 'ada@example.com', role: 'read' },
    })
    await suspendOrganization(remit.writer, api.org.id)

    expect((await api.ok('verifyLedger', { body: {} })).valid).toBe(true)
    await api.ok('revokeKey', { params: { id: key.id } })
    await other.ok('revokeCredential', { params: { credID: credential.id } })
    await other.ok('removePerson', { params: { id: person.id } })
    const { data } = await api.ok('listEntries', { query: { limit: 4 } })
    expect(data.map(({ kind }) => kind)).toEqual([
      'person.removed',
      'credential.revoked',
      'key.revoked',
      'ledger.verified',
    ])
    expect((await api.refusal('createKey', { body: { role: 'read' } })).code).toBe(
      'organization_suspended',
    )
  })

  it('80 and 100 percent of the monthly limit are entries and webhook messages, once a month', async () => {
    const hook = { url: 'https://hooks.example.com/x', events: ['quota.threshold'] }
    const webhook = await api.ok('createWebhook', { body: hook })
    await limit({ decisions_per_month: 10 })
    const reached = async () => {
      const { data } = await api.ok('listEntries', { query: { kind: 'quota.threshold' } })
      return data.map((entry) => entry.data).toReversed()
    }
    const decide = (count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, i) =>
          (i % 2 === 0 ? api : other).call('authorize', { body }),
        ),
      )
    await decide(7)
    expect(await reached()).toEqual([])
    await decide(20)
    const first = await reached()
    expect(first).toMatchObject([
      { month: '2026-11', threshold_percent: 80, limit: 10 },
      { month: '2026-11', threshold_percent: 100, limit: 10, decisions: 10 },
    ])
    clock.advance(60_000)
    await decide(8)
    expect((await reached()).slice(2)).toMatchObject([
      { month: '2026-12', threshold_percent: 80, limit: 10 },
    ])
    // A lower limit that is reached already says so.
    await limit({ decisions_per_month: 8 })
    expect((await reached()).slice(3)).toMatchObject([
      { threshold_percent: 100, limit: 8, decisions: 8 },
    ])
    await limit({ decisions_per_month: 8, agents: 3 })
    expect(await reached()).toHaveLength(4)
    const { data } = await api.ok('listDeliveries', { params: { id: webhook.id } })
    expect(data.map(({ event }) => event)).toEqual(Array(4).fill('quota.threshold'))
  })

  it('a suspended organization reads and changes nothing, on every process, until it is resumed', async () => {
    await api.ok('authorize', { body })
    await other.ok('authorize', { body })
    await suspendOrganization(remit.writer, api.org.id, { reason: 'unpaid' })
    for (const from of [api, other]) {
      const problems = [
        await from.refusal('authorize', { body }),
        await from.refusal('createPolicy', { body: { effect: 'deny', actions: ['x'] } }),
        await from.refusal('createKey', { body: { role: 'read' } }),
        await from.refusal('checkContent', { body: { content: 'x' } }),
      ]
      for (const { code } of problems) expect(code).toBe('organization_suspended')
      expect(await from.ok('getOrganization')).toMatchObject({ suspended_at: START })
      expect((await from.call('exportEntries')).status).toBe(200)
    }
    const { data } = await api.ok('listEntries', { query: { kind: 'organization.updated' } })
    expect(data[0]?.data).toMatchObject({ reason: 'unpaid' })
    await resumeOrganization(remit.writer, api.org.id)
    for (const from of [api, other]) await from.ok('authorize', { body })
    expect(await api.ok('getOrganization')).not.toHaveProperty('suspended_at')
  })

  it('a suspended organization gets no stored permit, report, delivery or token either', async () => {
    const evaluations = {
      body: {
        subject: { type: 'agent', id: 'payer' },
        action: { name: 'a.b' },
        evaluations: [{ resource: { type: 'record', id: '1' } }],
      },
      headers: { 'idempotency-key': 'permit' },
    }
    await api.ok('accessEvaluations', evaluations)
    await suspendOrganization(remit.writer, api.org.id)

    const problems = [
      await api.refusal('accessEvaluations', evaluations),
      await api.refusal('accessEvaluations', { ...evaluations, headers: {} }),
      await api.refusal('createReport', { body: { framework: 'eu_ai_act' } }),
      await api.refusal('testSink', { params: { id: 'snk_any' } }),
      await api.refusal('dryRunPolicies', { body: { ...body, at: '2036-01-01T00:00:00Z' } }),
      await api.refusal('redeliver', { params: { id: 'whk_any', deliveryID: 'whd_any' } }),
    ]
    for (const { code } of problems) expect(code).toBe('organization_suspended')
    const token = { body: { token: 'rmc_unknown' } }
    expect(await api.ok('introspectCredential', token)).toEqual({ active: false })
    await api.ok('revokeByText', token)
  })
})
