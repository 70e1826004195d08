import { on } from '@remit/core/db'
import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Tables } from '../src/tables/schema.ts'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'
const PAY = { agent_id: 'payer', action: 'payments.transfer' }

describe.each(someDialects())('PUT /v1/policies/{policyID} on %s', (dialect) => {
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock(NOW)
    api = await createApi({ dialect, clock })
  })
  afterAll(() => api.remit.close())

  const anew = async () => api.as(await api.remit.organization())
  const create = async (of: Api, effect: 'allow' | 'deny') =>
    (await of.ok('createPolicy', { body: { effect, actions: ['payments.*'] } })).id
  const put = (of: Api, policyID: string, etag: string | null, body: object) =>
    of.call('replacePolicy', {
      params: { policyID },
      body,
      headers: etag === null ? {} : { 'if-match': etag },
    })
  const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code

  it('replaces the whole rule: the next decision follows the new version and names it', async () => {
    const of = await anew()
    const policyID = await create(of, 'deny')
    const before = await of.ok('authorize', { body: PAY })
    clock.advance(1000)
    const body = { effect: 'allow', description: 'opened', change_reason: 'the audit is over' }
    const response = await put(of, policyID, '"1"', body)
    expect([response.status, response.headers.get('etag')]).toEqual([200, '"2"'])
    const after = await of.ok('authorize', { body: PAY })

    expect([before.decision, before.matched]).toEqual([
      'deny',
      [{ kind: 'policy', id: policyID, revision: 1 }],
    ])
    expect([after.decision, after.matched]).toEqual([
      'allow',
      [{ kind: 'policy', id: policyID, revision: 2 }],
    ])
    const policy = await of.ok('getPolicy', { params: { policyID } })
    expect(policy).toMatchObject({
      effect: 'allow',
      actions: ['*'],
      description: 'opened',
      created_at: NOW,
      updated_at: '2026-11-20T08:00:01.000Z',
      revision: 2,
    })
    const { data } = await of.ok('listEntries', { query: { kind: 'policy.updated' } })
    expect(data[0]?.data).toEqual({ policy, change_reason: 'the audit is over' })
    clock.set(NOW)
  })

  it('a rule that is switched off no longer matches', async () => {
    const of = await anew()
    const policyID = await create(of, 'deny')
    await put(of, policyID, '"1"', { effect: 'deny', enabled: false })
    expect((await of.ok('authorize', { body: PAY })).decision).toBe('allow')
  })

  it('of two editors of one version, one is refused and nothing of theirs is stored', async () => {
    const of = await anew()
    const policyID = await create(of, 'deny')
    const answers = await Promise.all(
      ['one', 'two', 'three'].map((description) =>
        put(of, policyID, '"1"', { effect: 'allow', description }),
      ),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 412, 412])
    const policy = await of.ok('getPolicy', { params: { policyID } })
    expect(policy.revision).toBe(2)
    expect(policy.description).toBe(['one', 'two', 'three'][statuses.indexOf(200)])
    const { data } = await of.ok('listEntries', { query: { kind: 'policy.updated' } })
    expect(data).toHaveLength(1)
  })

  it.each([
    [null, 428, 'precondition_required'],
    ['"0"', 412, 'version_mismatch'],
    ['"2"', 412, 'version_mismatch'],
    ['1', 400, 'invalid_request'],
    ['W/"1"', 400, 'invalid_request'],
    ['""', 400, 'invalid_request'],
    ['"99999999999999999999"', 400, 'invalid_request'],
  ])('If-Match %s is refused with %i', async (etag, status, code) => {
    const of = await anew()
    const policyID = await create(of, 'deny')
    const response = await put(of, policyID, etag, { effect: 'allow' })
    expect([response.status, await codeOf(response)]).toEqual([status, code])
    expect((await of.ok('getPolicy', { params: { policyID } })).effect).toBe('deny')
  })

  it('an unknown rule and one of another organization are the same 404', async () => {
    const of = await anew()
    const policyID = await create(await anew(), 'deny')
    for (const id of [policyID, 'pol_unknown']) {
      expect((await put(of, id, '"1"', { effect: 'allow' })).status).toBe(404)
      expect((await put(of, id, '*', { effect: 'allow' })).status).toBe(404)
      expect((await of.call('getPolicy', { params: { policyID: id } })).status).toBe(404)
    }
  })

  it('a rule that becomes the 1,001st broad one is refused', async () => {
    const of = await anew()
    const narrow = (await of.ok('createPolicy', { body: { effect: 'deny', agents: ['a'] } })).id
    const broad = (await of.ok('createPolicy', { body: { effect: 'allow' } })).id
    const rows = Array.from({ length: 999 }, (_, i) => ({
      org_id: of.org.id,
      id: `pol_${i}`,
      effect: 'allow' as const,
      agents: '["*"]',
      actions: '["*"]',
      resources: '["*"]',
      condition: null,
      description: null,
      enabled: 1,
      observed: 0,
      broad: 1,
      not_before: null,
      expires_at: null,
      created_at: NOW,
      created_by: 'test',
      updated_at: null,
      revision: 1,
    }))
    for (let i = 0; i < rows.length; i += 100)
      await on<Tables>(of.remit.db)
        .insertInto('policy_rule')
        .values(rows.slice(i, i + 100))
        .execute()
    expect((await put(of, narrow, '"1"', { effect: 'deny' })).status).toBe(409)
    expect((await put(of, broad, '"1"', { effect: 'deny' })).status).toBe(200)
  })

  it('a reason is recorded on create and delete too, and must say something', async () => {
    const of = await anew()
    const body = { effect: 'deny', change_reason: 'first' }
    const { id: policyID } = await of.ok('createPolicy', { body })
    const bad = await of.call('createPolicy', { body: { ...body, change_reason: ' ' } })
    expect(bad.status).toBe(400)
    const long = { change_reason: 'x'.repeat(501) }
    expect((await of.call('deletePolicy', { params: { policyID }, query: long })).status).toBe(400)
    await of.ok('deletePolicy', { params: { policyID }, query: { change_reason: 'last' } })
    const { data } = await of.ok('listEntries', { query: { limit: 2 } })
    expect(data.map((entry) => [entry.kind, entry.data?.['change_reason']])).toEqual([
      ['policy.deleted', 'last'],
      ['policy.created', 'first'],
    ])
  })
})

describe('?validate=true', () => {
  let api: Api
  beforeAll(async () => {
    api = await createApi()
  })
  afterAll(() => api.remit.close())

  type Name = 'createPolicy' | 'setApprovalRule'
  const params = { id: 'rule' }
  const validate = async (name: Name, body: object) => {
    const before = await api.ok('listEntries', { query: { limit: 1 } })
    const response = await api.call(name, { params, query: { validate: 'true' }, body })
    expect(response.status).toBe(200)
    const after = await api.ok('listEntries', { query: { limit: 1 } })
    expect(after.head).toEqual(before.head)
    return (await response.json()) as { valid: boolean; errors: unknown[]; warnings: string[] }
  }

  it.each(['createPolicy', 'setApprovalRule'] as const)(
    '%s has the errors of storing, with their position, and stores nothing',
    async (name) => {
      for (const body of [
        { effect: 'deny', condition: 'context.amount > ' },
        { effect: 'deny', condition: 'context.amount >\n  nosuch' },
        { effect: 'deny', agents: [] },
        { effect: 'deny', condtion: 'true' },
        { effect: 'deny', condition: 1, actions: 'x' },
      ]) {
        const { effect: _, ...rule } = body
        const sent = name === 'createPolicy' ? body : rule
        const refused = await api.refusal(name, { params, body: sent })
        const { valid, errors, warnings } = await validate(name, sent)
        expect([valid, warnings]).toEqual([false, []])
        const position = refused['position']
        const expected = (refused.errors ?? []).map((error) => ({
          ...error,
          ...(position !== undefined && { position }),
        }))
        expect(errors).toEqual(expected)
        expect(errors.length).toBeGreaterThan(0)
      }
    },
  )

  it('a good rule is valid, with its warnings', async () => {
    expect(await validate('createPolicy', { effect: 'deny', agents: ['Payer'] })).toEqual({
      valid: true,
      errors: [],
      warnings: [expect.stringContaining('case-sensitive')],
    })
    expect((await api.ok('listPolicies')).data).toEqual([])
    expect((await validate('setApprovalRule', { actions: ['x'] })).valid).toBe(true)
    expect((await api.ok('listApprovalRules')).data).toEqual([])
  })

  it('other refusals stay refusals', async () => {
    const query = { validate: 'true' }
    const read = await api.remit.key(api.org.id, 'read')
    const body = { effect: 'deny' }
    const statuses = [
      await api.call('createPolicy', { query, body, key: read }),
      await api.call('createPolicy', { query: { validate: 'yes' }, body }),
      await api.call('createPolicy', { query: { ...query, more: '1' }, body }),
      await api.call('createPolicy', { query, body: '{"effect"' }),
    ].map(({ status }) => status)
    expect(statuses).toEqual([403, 400, 400, 400])
  })
})
