import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

describe.each(someDialects())('an outcome without an allow on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
    await api.ok('createPolicy', { body: { effect: 'deny', actions: ['denied.*'] } })
    await api.ok('setApprovalRule', { params: { id: 'held' }, body: { actions: ['held.*'] } })
  })
  afterAll(() => api.remit.close())

  const decide = (action: string) => api.ok('authorize', { body: { agent_id: 'a', action } })
  const append = (body: object) =>
    api.ok('appendEntry', { body: { agent_id: 'a', action: 'x.y', ...body } })

  it('is an enforcement gap where nothing was decided', async () => {
    const entry = await append({ decision_id: null, outcome: 'success', cost_usd: 3 })

    expect(entry).toMatchObject({
      kind: 'enforcement.gap',
      agent_id: 'a',
      data: { decision_id: null, outcome: 'success', cost_usd: 3 },
    })
  })

  it.each(['denied.this', 'held.this'])(
    'is an enforcement gap for the decision on %s',
    async (action) => {
      const { decision_id } = await decide(action)

      expect((await append({ decision_id, outcome: 'failure' })).kind).toBe('enforcement.gap')
      expect((await append({ decision_id })).kind).toBe('entry.appended')
    },
  )

  it('is none after an allow, nor for an entry that names no decision', async () => {
    const { decision_id } = await decide('allowed.this')

    expect((await append({ decision_id, outcome: 'success' })).kind).toBe('entry.appended')
    expect((await append({ decision_id, outcome: 'success', settle: 'held' })).kind).toBe(
      'entry.appended',
    )
    expect((await append({ outcome: 'success' })).kind).toBe('entry.appended')
  })

  it('is found by its kind', async () => {
    const { data } = await api.ok('listEntries', {
      query: { kind: 'enforcement.gap', agent_id: 'a' },
    })

    expect(data).toHaveLength(3)
  })

  it('settles nothing without a decision', async () => {
    const refused = await api.refusal('appendEntry', {
      body: { agent_id: 'a', action: 'x.y', decision_id: null, settle: 'held' },
    })

    expect(refused.errors?.[0]?.path).toBe('decision_id')
  })
})
