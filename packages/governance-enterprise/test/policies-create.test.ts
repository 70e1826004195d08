import { on } from '@remit/core/db'
import { cpuMsOf, createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Tables } from '../src/tables/schema.ts'
import { answerOf, createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'

describe.each(someDialects())('POST /v1/policies on %s', (dialect) => {
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock(NOW)
    api = await createApi({ dialect, clock })
  })
  afterAll(() => api.remit.close())

  /** A fresh organization, so that no other rule has a say. */
  const anew = async () => api.as(await api.remit.organization())

  it('201 with the rule, its place and the receipt of an entry that has the full rule', async () => {
    const body = {
      description: 'Large transfers are forbidden',
      effect: 'deny',
      agents: ['payer'],
      actions: ['payments.*'],
      resources: ['account:*'],
      condition: 'amount_usd > 10000',
      not_before: '2026-11-20T08:00:00Z',
      expires_at: '2027-01-01T00:00:00.5Z',
    }

    const response = await api.call('createPolicy', { body })

    const { ledger, warnings, ...policy } = await answerOf('createPolicy', response)
    expect(response.status).toBe(201)
    expect(response.headers.get('location')).toBe(`/v1/policies/${policy.id}`)
    expect(policy).toEqual({
      ...body,
      id: expect.stringMatching(/^pol_[0-9a-z]{26}$/),
      enabled: true,
      mode: 'enforce',
      not_before: '2026-11-20T08:00:00.000Z',
      expires_at: '2027-01-01T00:00:00.500Z',
      created_at: NOW,
      created_by: `key_${api.org.key.slice(4, 20)}`,
      updated_at: NOW,
      revision: 1,
    })
    expect(warnings).toEqual([])
    const entry = await api.ok('getEntry', { params: { seq: ledger?.seq ?? -1 } })
    expect(entry).toMatchObject({ kind: 'policy.created', data: { policy } })
  })

  it('warns of an action that no recorded call has had, if a call had a similar one', async () => {
    const org = await anew()
    const body = { effect: 'deny', actions: ['paymnets.create', 'database.drop'] } as const
    expect(await org.ok('createPolicy', { body })).toMatchObject({ warnings: [] })
    await org.ok('authorize', { body: { agent_id: 'payer', action: 'payments.transfer' } })

    const warnings = [
      'no recent call has had the action paymnets.create; a call has had payments.transfer',
    ]
    expect(await org.ok('createPolicy', { body })).toMatchObject({ warnings })
    const validated = await org.call('createPolicy', { body, query: { validate: 'true' } })
    expect(await validated.json()).toMatchObject({ valid: true, warnings })
    const rule = { params: { id: 'one' }, body: { actions: ['paymnets.*'] } }
    expect((await org.ok('setApprovalRule', rule)).warnings).toEqual([
      'no recent call has had the action paymnets.*; a call has had payments.transfer',
    ])
    const permission = {
      params: { id: 'one' },
      body: { agent_id: 'payer', actions: ['paymnets.*'] },
    }
    expect((await org.ok('grantPermission', permission)).warnings).toHaveLength(1)
  })

  it('201 with everything that is left out: everybody, everything, always', async () => {
    const policy = await (await anew()).ok('createPolicy', { body: { effect: 'allow' } })

    expect(policy).toMatchObject({
      description: null,
      agents: ['*'],
      actions: ['*'],
      resources: ['*'],
      condition: null,
      enabled: true,
      not_before: null,
      expires_at: null,
    })
  })

  it('201 with warnings about probable mistakes of the author', async () => {
    const { warnings } = await api.ok('createPolicy', {
      body: {
        effect: 'allow',
        agents: ['nobody'],
        actions: ['payments.Transfer'],
        condition: 'context.cost < 100 && context.amount > 1',
        expires_at: NOW,
      },
    })

    expect(warnings).toEqual([
      'the pattern payments.Transfer has uppercase letters; patterns are case-sensitive',
      'the rule has already expired',
      'context.cost has only an upper bound, which negative numbers satisfy',
      expect.stringContaining('read amount_usd'),
    ])
  })

  it('201 with a warning about a deny that a request without the member passes', async () => {
    const warningsOf = async (effect: string, condition: string) =>
      (await api.ok('createPolicy', { body: { effect, agents: ['nobody'], condition } })).warnings

    expect(await warningsOf('deny', 'has(context.n) && context.n > 5')).toEqual([
      expect.stringContaining('a request without context.n passes this rule'),
    ])
    for (const safe of ['context.n > 5', '!has(context.n) || context.n > 5'])
      expect(await warningsOf('deny', safe)).toEqual([])
    for (const any of ['has(context.n) && context.n > 5', 'context.n > 5'])
      expect(await warningsOf('allow', any)).toEqual([])
  })

  it('201 with a warning about patterns that no request matches, and what to write', async () => {
    const body = {
      effect: 'deny',
      actions: ['claude.bash', 'claude.mcp__bank__pay', 'claude.Bash'],
      resources: ['tool:mcp__bank__pay'],
    }

    expect((await api.ok('createPolicy', { body })).warnings).toEqual([
      expect.stringMatching(/^the pattern claude[.]bash .*: write claude[.]Bash$/),
      expect.stringMatching(/claude[.]mcp__bank__pay .* tools\/call and the resource tool:pay$/),
      expect.stringMatching(/^the pattern tool:mcp__bank__pay .*: write tool:pay$/),
    ])
  })

  it('201 once for one Idempotency-Key', async () => {
    const org = await anew()
    const headers = { 'idempotency-key': 'the-same' }
    const first = await org.ok('createPolicy', { body: { effect: 'deny' }, headers })
    const second = await org.ok('createPolicy', { body: { effect: 'deny' }, headers })

    expect(second).toEqual(first)
    expect((await org.ok('listPolicies')).data).toHaveLength(1)
  })

  describe('400', () => {
    it.each([
      ['no effect', {}, 'effect'],
      ['another effect', { effect: 'permit' }, 'effect'],
      ['a misspelt condition', { effect: 'deny', condtion: 'true' }, 'condtion'],
      ['no agents', { effect: 'deny', agents: [] }, 'agents'],
      ['no actions', { effect: 'deny', actions: [] }, 'actions'],
      ['no resources', { effect: 'deny', resources: [] }, 'resources'],
      ['51 actions', { effect: 'deny', actions: Array(51).fill('a') }, 'actions'],
      ['an empty pattern', { effect: 'deny', actions: [''] }, 'actions.0'],
      ['a zero-width space', { effect: 'deny', actions: ['pay\u200b'] }, 'actions.0'],
      ['an outer blank', { effect: 'deny', agents: ['a', ' b'] }, 'agents.1'],
      ['text that is not NFC', { effect: 'deny', agents: ['a\u0308'] }, 'agents.0'],
      ['a pattern of 257', { effect: 'deny', agents: ['a'.repeat(257)] }, 'agents.0'],
      ['a pattern alone', { effect: 'deny', actions: 'a.*' }, 'actions'],
      ['an empty condition', { effect: 'deny', condition: '' }, 'condition'],
      ['a condition of 3 KB', { effect: 'deny', condition: 'a'.repeat(3000) }, 'condition'],
      [
        'a time without a zone',
        { effect: 'deny', expires_at: '2026-11-20T08:00:00' },
        'expires_at',
      ],
      [
        'a window that is over before it begins',
        { effect: 'deny', not_before: NOW, expires_at: NOW },
        'expires_at',
      ],
      ['an id', { effect: 'deny', id: 'pol_mine' }, 'id'],
    ])('%s', async (_, body, path) => {
      const problem = await api.refusal('createPolicy', { body })

      expect(problem.errors?.map((error) => error.path)).toContain(path)
    })

    it.each([
      ['context.amount >', 1, 16],
      ["action == 'a' &&\n  contxt.amount > 1", 2, 3],
      ['context.amount * 2 > 3.0', 1, 18],
      ['1 + 1', 1, 3],
      [`${'('.repeat(900)}true${')'.repeat(900)}`, 1, 1],
      ["context.name.matches('(')", 1, 22],
    ])('a condition that does not compile, with the place: %s', async (condition, line, column) => {
      const problem = await api.refusal('createPolicy', { body: { effect: 'deny', condition } })

      expect(problem).toMatchObject({ code: 'invalid_request', position: { line, column } })
      expect(problem.errors).toMatchObject([
        {
          path: 'condition',
          message: expect.stringMatching(`^line ${line}, column ${column}: \\S`) as unknown,
        },
      ])
    })

    it('10,000 nested parentheses, quickly', async () => {
      const condition = `${'('.repeat(10_000)}true${')'.repeat(10_000)}`
      const took = await cpuMsOf(() =>
        api.refusal('createPolicy', { body: { effect: 'deny', condition } }),
      )

      expect(took).toBeLessThan(2_000)
    })
  })

  it('403 for every role but admin', async () => {
    for (const role of ['ingest', 'approver', 'read'] as const) {
      const key = await api.remit.key(api.org.id, role)
      const problem = await api.refusal('createPolicy', { key, body: { effect: 'deny' } })
      expect(problem.code).toBe('role_required')
    }
  })

  it('403 on the team plan', async () => {
    const team = api.as(await api.remit.organization('team'))

    expect(await team.refusal('createPolicy', { body: { effect: 'deny' } })).toMatchObject({
      code: 'plan_required',
      required_plan: 'enterprise',
    })
  })

  /** More rules like one there is, past the API: a thousand changes take their time. */
  async function copyRule(org: Api, id: string, times: number): Promise<void> {
    const db = on<Tables>(org.remit.db)
    const rule = await db
      .selectFrom('policy_rule')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const rows = Array.from({ length: times }, (_, i) => ({ ...rule, id: `pol_copy_${i}` }))
    for (let from = 0; from < times; from += 100)
      await db
        .insertInto('policy_rule')
        .values(rows.slice(from, from + 100))
        .execute()
  }

  describe('409', () => {
    const broad = { effect: 'allow', actions: ['*'], condition: "action == 'none'" }

    it('the 1,001st rule that concerns every request, while others are still taken', async () => {
      const org = await anew()
      const { id } = await org.ok('createPolicy', { body: broad })
      await copyRule(org, id, 998)
      await org.ok('createPolicy', { body: broad })

      expect((await org.refusal('createPolicy', { body: broad })).code).toBe('too_many_broad_rules')
      await org.ok('createPolicy', { body: { ...broad, actions: ['a.*'] } })
      await org.ok('createPolicy', { body: { ...broad, agents: ['payer'] } })

      await org.ok('deletePolicy', { params: { policyID: id } })
      await org.ok('createPolicy', { body: broad })
    })
  })
})
