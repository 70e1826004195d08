import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const uidIn = (data: Record<string, unknown> | null) =>
  (data?.['budget'] as { uid: string } | undefined)?.uid
const body = { unit: 'usd', window: 'day', limit: 100 } as const

describe.each(someDialects())('budgets on %s', (dialect) => {
  let all: Api
  let api: Api
  beforeAll(async () => {
    all = await createApi({ dialect })
  })
  beforeEach(async () => {
    api = all.as(await all.remit.organization())
  })
  afterAll(() => all.remit.close())

  const set = (id: string, more: object = {}) =>
    api.ok('setBudget', { params: { id }, body: { ...body, ...more } })
  const refused = (id: string, more: object = {}, query: Record<string, string> = {}) =>
    api.refusal('setBudget', { params: { id }, query, body: { ...body, ...more } })
  const ids = async (query: Record<string, string> = {}) =>
    (await api.ok('listBudgets', { query })).data.map(({ id }) => id)

  it('is created with 201 and replaced with 200, each with an entry of the whole budget', async () => {
    const first = await api.call('setBudget', { params: { id: 'company' }, body })
    expect([first.status, first.headers.get('Location'), first.headers.get('ETag')]).toEqual([
      201,
      '/v1/budgets/company',
      '"1"',
    ])
    const again = await api.call('setBudget', {
      params: { id: 'company' },
      body: { ...body, limit: 50, change_reason: 'less money' },
    })
    expect([again.status, again.headers.get('ETag')]).toEqual([200, '"2"'])

    const { data } = await api.ok('listEntries', { query: { kind: 'budget.set', order: 'asc' } })
    expect(data.map((entry) => entry.data)).toMatchObject([
      { budget: { id: 'company', limit: 100, revision: 1, match: { agents: ['*'] } } },
      { budget: { id: 'company', limit: 50, revision: 2 }, change_reason: 'less money' },
    ])
    const [before, after] = data.map((entry) => uidIn(entry.data))
    expect(after).toBe(before)
  })

  it('is read with its usage, and listed by parent, agent and unit', async () => {
    await set('company')
    await set('finance', { parent_id: 'company', match: { agents: ['payer'] } })
    await set('tokens', { unit: 'tokens', limit: 1000 })

    expect(await api.ok('getBudget', { params: { id: 'company' } })).toMatchObject({
      id: 'company',
      usage: { used: 0, held: 0, kept: 0, remaining: 100 },
    })
    expect(await ids()).toEqual(['company', 'finance', 'tokens'])
    expect(await ids({ parent_id: 'company' })).toEqual(['finance'])
    expect(await ids({ agent_id: 'writer' })).toEqual(['company', 'tokens'])
    expect(await ids({ unit: 'tokens' })).toEqual(['tokens'])
    const { data, next_cursor: cursor } = await api.ok('listBudgets', { query: { limit: 2 } })
    expect(data).toHaveLength(2)
    expect(await ids({ cursor: cursor ?? '' })).toEqual(['tokens'])
  })

  it.each([
    [{ per: 'user', window: 'total' }, 'per'],
    [{ per: 'session' }, 'per'],
    [{ match: { labels: JSON.parse('{"__proto__":["a"]}') as object } }, 'match.labels'],
    [{ unit: 'calls', limit: 1.5 }, 'limit'],
    [{ limit: -1 }, 'limit'],
    [{ time_zone: 'Mars/Olympus' }, 'time_zone'],
    [{ time_zone: '+01:00' }, 'time_zone'],
    [{ unit: 'US Dollars' }, 'unit'],
    [{ match: { agents: [] } }, 'match.agents'],
    [{ warn_at: [101] }, 'warn_at.0'],
    [{ colour: 'red' }, 'colour'],
  ])('%j is refused with 400 that names the field', async (more, path) => {
    expect(await refused('company', more)).toMatchObject({
      status: 400,
      code: 'invalid_request',
      errors: [{ path }],
    })
  })

  it('a tree has eight levels, known parents, and children that match no more', async () => {
    for (let level = 1; level <= 8; level++)
      await set(`l${level}`, level === 1 ? {} : { parent_id: `l${level - 1}` })
    const tree = { code: 'budget_tree_invalid', status: 422, errors: [{ path: 'parent_id' }] }
    expect(await refused('l9', { parent_id: 'l8' })).toMatchObject(tree)
    expect(await refused('self', { parent_id: 'self' })).toMatchObject(tree)
    expect(await refused('lost', { parent_id: 'unknown' })).toMatchObject(tree)

    const match = { actions: ['payments.*'], labels: { team: ['finance'] } }
    await set('narrow', { match })
    const wide = { code: 'budget_wider_than_parent', status: 422 }
    expect(await refused('child', { parent_id: 'narrow' })).toMatchObject({
      ...wide,
      errors: [{ path: 'match.actions' }],
    })
    expect(
      await refused('child', { parent_id: 'narrow', match: { actions: ['payments.a'] } }),
    ).toMatchObject({ ...wide, errors: [{ path: 'match.labels.team' }] })
    await set('child', { parent_id: 'narrow', match: { ...match, actions: ['payments.a'] } })
    // Narrowing the parent is the same fault.
    expect(await refused('narrow', { match: { ...match, actions: ['payments.b'] } })).toMatchObject(
      { ...wide, detail: expect.stringContaining('child') as string },
    )
  })

  it('slices count like their parent, within its limit, under a root or another slice', async () => {
    await set('root')
    await set('loose', { parent_id: 'root' })
    const slice = { parent_id: 'root', reserved: true, limit: 60 }
    await set('a', slice)
    const invalid = { code: 'budget_tree_invalid', status: 422 }
    expect(await refused('b', { ...slice, unit: 'eur' })).toMatchObject(invalid)
    expect(await refused('b', { ...slice, hold_ttl_seconds: 5 })).toMatchObject(invalid)
    expect(await refused('b', { ...slice, settlement_by_agent: 'any' })).toMatchObject(invalid)
    expect(await refused('b', { ...slice, per: 'agent' })).toMatchObject(invalid)
    expect(await refused('b', { ...slice, parent_id: 'loose' })).toMatchObject(invalid)
    expect(await refused('b', { reserved: true })).toMatchObject(invalid)
    const over = { code: 'budget_overallocated', status: 422 }
    expect(await refused('b', { ...slice, limit: 41 })).toMatchObject({
      ...over,
      detail: expect.stringContaining('a, b') as string,
    })
    await set('b', { ...slice, limit: 40 })
    expect(await refused('a', { ...slice, limit: 61 })).toMatchObject(over)
    expect(await refused('root', { limit: 99 })).toMatchObject(over)
    expect(await refused('root', { hold_ttl_seconds: 5 })).toMatchObject(invalid)
  })

  it('a test of a change refuses another revision, as the change does', async () => {
    await set('company')
    const headers = { 'if-match': '"99"' }
    for (const query of [{}, { validate: 'true' } as const])
      expect(
        await api.refusal('setBudget', { params: { id: 'company' }, body, headers, query }),
      ).toMatchObject({ code: 'version_mismatch' })
  })

  it('the values that used something are listed page by page, the shared one first', async () => {
    await set('each', { per: 'user', unit: 'calls', limit: 9 })
    for (const id of [null, ':', '/', 'a'])
      await api.ok('authorize', {
        body: { agent_id: 'x', action: 'y', ...(id && { subject: { type: 'user', id } }) },
      })
    const values: (string | null)[] = []
    const cursors: (string | null)[] = []
    for (let cursor: string | null | undefined; cursor !== null;) {
      const query = { limit: 1, ...(cursor !== undefined && { cursor }) }
      const page = await api.ok('getBudgetUsage', { params: { id: 'each' }, query })
      values.push(...page.data.map(({ value }) => value))
      cursor = page.next_cursor
      cursors.push(cursor)
    }
    expect(values).toEqual([null, '/', ':', 'a'])
    expect(cursors).not.toContain('')
  })

  it('what it counts never changes', async () => {
    await set('company')
    for (const more of [
      { unit: 'eur' },
      { window: 'week' },
      { per: 'agent' },
      { time_zone: 'Asia/Kolkata' },
    ])
      expect(await refused('company', more)).toMatchObject({ status: 409, code: 'budget_fixed' })
    expect(await refused('spend:payer:day')).toMatchObject({ status: 409, code: 'budget_fixed' })
  })

  it('has at most 8 budgets that name an agent, and 24 with an agent pattern', async () => {
    for (let i = 0; i < 8; i++) await set(`own-${i}`, { match: { agents: ['payer'] } })
    for (let i = 0; i < 24; i++) await set(`all-${i}`)
    const many = { status: 409, code: 'too_many_budgets' }
    expect(await refused('own', { match: { agents: ['payer'] } })).toMatchObject(many)
    expect(await refused('all')).toMatchObject(many)
    await set('other', { match: { agents: ['writer'] } })
  })

  it('If-Match refuses the change of another version, and validate changes nothing', async () => {
    await set('company')
    const put = (id: string, match: string) =>
      api.refusal('setBudget', { params: { id }, body, headers: { 'If-Match': match } })
    expect(await put('company', '"2"')).toMatchObject({ status: 412, code: 'version_mismatch' })
    expect(await put('none', '*')).toMatchObject({ status: 404, code: 'budget_not_found' })
    expect(await put('company', 'x')).toMatchObject({ status: 400 })

    const query = { validate: 'true' } as const
    const valid = { ...body, per: 'user', match: { labels: { team: ['a'] } } }
    const tried = await api.call('setBudget', { params: { id: 'tried' }, query, body: valid })
    expect(await tried.json()).toEqual({
      valid: true,
      errors: [],
      warnings: ['unverified_subject', 'no_agent_labels'],
    })
    expect(await refused('tried', { parent_id: 'x' }, query)).toMatchObject({ status: 422 })
    expect(await ids()).toEqual(['company'])
  })

  it('is removed without children only, and what it counted is gone', async () => {
    await set('company')
    await set('team', { parent_id: 'company' })
    const ask = () =>
      api.ok('authorize', {
        body: { agent_id: 'payer', action: 'a.b', context: { amount_usd: 60 } },
      })
    const { decision_id } = await ask()
    expect(await api.refusal('removeBudget', { params: { id: 'company' } })).toMatchObject({
      status: 409,
      code: 'budget_has_children',
      detail: expect.stringContaining('team') as string,
    })
    await api.ok('removeBudget', { params: { id: 'team' } })
    await api.ok('removeBudget', { params: { id: 'company' } })
    expect(await api.refusal('getBudget', { params: { id: 'company' } })).toMatchObject({
      status: 404,
      code: 'budget_not_found',
    })
    expect(await api.refusal('removeBudget', { params: { id: 'company' } })).toMatchObject({
      status: 404,
    })

    await set('company')
    await api.ok('appendEntry', { body: { action: 'a.b', decision_id, cost_usd: 90 } })
    expect((await api.ok('getBudget', { params: { id: 'company' } })).usage).toMatchObject({
      used: 0,
      held: 0,
    })
  })

  it('only administrators change budgets; readers read them', async () => {
    await set('company')
    const key = await api.remit.key(api.org.id, 'read')
    expect((await api.ok('listBudgets', { key })).data).toHaveLength(1)
    expect(await api.refusal('setBudget', { key, params: { id: 'x' }, body })).toMatchObject({
      status: 403,
      code: 'role_required',
    })
    expect(await api.refusal('removeBudget', { key, params: { id: 'company' } })).toMatchObject({
      status: 403,
    })
  })
})
