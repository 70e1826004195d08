import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const PAY = { agent_id: 'payer', action: 'payments.transfer' }
const ID = 'no-payments'

describe.each(someDialects())('PUT /v1/policies/{policyID} with a chosen id on %s', (dialect) => {
  let base: Api
  let api: Api
  beforeAll(async () => {
    base = await createApi({ dialect })
  })
  afterAll(() => base.remit.close())
  beforeEach(async () => {
    api = base.as(await base.remit.organization())
  })

  const put = (effect: 'allow' | 'deny', headers: Record<string, string> = {}, policyID = ID) =>
    api.call('replacePolicy', { params: { policyID }, body: { effect }, headers })
  const problemOf = async (response: Response) => {
    const { code, detail } = (await response.json()) as { code: string; detail: string }
    return { status: response.status, code, detail }
  }
  const decide = async () => {
    const { reason, matched } = await api.ok('authorize', { body: PAY })
    return [reason, matched]
  }
  const kinds = async () => {
    const { data } = await api.ok('listEntries', { query: { order: 'asc' } })
    return data.map(({ kind }) => kind).filter((kind) => kind.startsWith('policy.'))
  }

  it('creates the rule, which decides at once, and answers as POST does', async () => {
    const response = await put('deny')

    expect([response.status, response.headers.get('location')]).toEqual([201, `/v1/policies/${ID}`])
    expect(response.headers.get('etag')).toBe('"1"')
    expect(await response.json()).toMatchObject({ id: ID, effect: 'deny', revision: 1 })
    expect(await decide()).toEqual(['policy_deny', [{ kind: 'policy', id: ID, revision: 1 }]])
    expect(await kinds()).toEqual(['policy.created'])
  })

  it('with If-None-Match only creates', async () => {
    expect((await put('deny', { 'if-none-match': '*' })).status).toBe(201)
    expect(await problemOf(await put('allow', { 'if-none-match': '*' }))).toMatchObject({
      status: 412,
      code: 'version_mismatch',
      detail: expect.stringContaining('exists, with the revision 1'),
    })
    expect((await decide())[0]).toBe('policy_deny')
  })

  it('with If-Match never creates', async () => {
    for (const match of ['"1"', '*'])
      expect(await problemOf(await put('deny', { 'if-match': match }))).toMatchObject({
        status: 404,
        code: 'policy_not_found',
      })
    expect(await kinds()).toEqual([])
  })

  it('without If-Match never replaces, and says how to', async () => {
    await put('deny')

    expect(await problemOf(await put('allow'))).toEqual({
      status: 428,
      code: 'precondition_required',
      detail:
        'The policy exists. To replace it, send If-Match: "1", the ETag of GET /v1/policies/no-payments; to replace any version, send If-Match: *',
    })
    expect((await decide())[0]).toBe('policy_deny')
  })

  it('with If-Match * replaces any version', async () => {
    await put('deny')
    const response = await put('allow', { 'if-match': '*' })

    expect([response.status, response.headers.get('etag')]).toEqual([200, '"2"'])
    expect((await decide())[0]).toBe('policy_allow')
    expect(await kinds()).toEqual(['policy.created', 'policy.updated'])
  })

  it.each([
    [{ 'if-none-match': '"1"' }, 'If-None-Match: must be *'],
    [{ 'if-none-match': '*', 'if-match': '*' }, 'If-None-Match: must not be sent with If-Match'],
    [{ 'if-match': 'no-payments' }, 'If-Match: must be the ETag of the policy, or *'],
  ])('refuses %o', async (headers, detail) => {
    expect(await problemOf(await put('deny', headers as never))).toMatchObject({
      status: 400,
      detail: expect.stringContaining(detail),
    })
  })

  it.each(['.hidden', '-x', 'a b', 'ü', 'x'.repeat(129)])('refuses the id %j', async (id) => {
    expect((await put('deny', {}, id)).status).toBe(400)
  })

  it('of two that create one id, one is refused', async () => {
    const statuses = (await Promise.all([put('deny'), put('deny')])).map(({ status }) => status)

    expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 428])
    expect(await kinds()).toEqual(['policy.created'])
  })

  it('an id that was removed is a new rule, which the next decision follows', async () => {
    await put('deny')
    expect((await decide())[0]).toBe('policy_deny')
    // No decision between: a name of the state that comes back would keep the removed rule.
    await api.ok('deletePolicy', { params: { policyID: ID } })
    expect((await put('allow')).status).toBe(201)

    expect(await decide()).toEqual(['policy_allow', [{ kind: 'policy', id: ID, revision: 1 }]])
    expect(await kinds()).toEqual(['policy.created', 'policy.deleted', 'policy.created'])
  })

  it('the same id in two organizations is two rules', async () => {
    await put('deny')
    const first = api
    api = base.as(await base.remit.organization())

    expect((await put('allow')).status).toBe(201)
    expect((await first.ok('getPolicy', { params: { policyID: ID } })).effect).toBe('deny')
  })
})
