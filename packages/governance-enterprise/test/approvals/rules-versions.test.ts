import type { EndpointName } from '@remit/contract'
import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const params = { id: 'large' }
const STALE = `"${'a'.repeat(22)}"`

describe.each(someDialects())('If-Match of approval rules on %s', (dialect) => {
  let first: Api
  let api: Api
  beforeAll(async () => {
    first = await createApi({ dialect })
  })
  afterAll(() => first.remit.close())
  beforeEach(async () => {
    api = first.as(await first.remit.organization())
  })

  const send = (name: EndpointName, ifMatch?: string, body?: object) =>
    api.call(name, {
      params,
      ...(body && { body }),
      ...(ifMatch !== undefined && { headers: { 'if-match': ifMatch } }),
    })
  const needing = (required_approvals: number, ifMatch?: string) =>
    send('setApprovalRule', ifMatch, { required_approvals })
  const tagOf = (response: Response) => response.headers.get('etag') ?? ''
  const required = async () => (await api.ok('getApprovalRule', { params })).required_approvals

  it('of two editors that read the same rule, one saves', async () => {
    expect((await needing(1)).status).toBe(201)
    const tag = tagOf(await send('getApprovalRule'))

    const answers = await Promise.all([needing(2, tag), needing(3, tag), needing(4, tag)])

    const statuses = answers.map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 412, 412])
    expect(await required()).toBe(2 + statuses.indexOf(200))
    const { data } = await api.ok('listEntries', { query: { kind: 'approval_rule.set' } })
    expect(data).toHaveLength(2)
  })

  it('the answer to a change has the version for the next one', async () => {
    const created = await needing(1)
    const changed = await needing(2, tagOf(created))

    expect(tagOf(changed)).toMatch(/^"[\w-]{22}"$/)
    expect(tagOf(changed)).toBe(tagOf(await send('getApprovalRule')))
    expect((await needing(3, tagOf(changed))).status).toBe(200)
    expect((await needing(4, tagOf(changed))).status).toBe(412)
  })

  it('a rule that is gone is not created again', async () => {
    const tag = tagOf(await needing(1))
    await send('removeApprovalRule')

    expect((await needing(2, tag)).status).toBe(412)
    expect((await needing(2, '*')).status).toBe(412)
    expect((await send('getApprovalRule')).status).toBe(404)
  })

  it('a rule that changed is not removed', async () => {
    const tag = tagOf(await needing(1))
    await needing(2)

    expect((await send('removeApprovalRule', tag)).status).toBe(412)
    expect((await send('removeApprovalRule', tagOf(await send('getApprovalRule')))).status).toBe(
      204,
    )
    expect((await send('removeApprovalRule', tag)).status).toBe(404)
  })

  it.each([
    [undefined, 200],
    ['*', 200],
    [STALE, 412],
    ['1', 400],
    [`W/${STALE}`, 400],
    ['""', 400],
    [`${STALE}, ${STALE}`, 400],
  ])('%s is answered with %i', async (ifMatch, status) => {
    await needing(1)

    expect((await needing(2, ifMatch)).status).toBe(status)
    expect(await required()).toBe(status === 200 ? 2 : 1)
  })
})
