import { createKey, updateSettings } from '@remit/core/orgs'
import { someDialects } from '@remit/testing'
import type { Role } from '@remit/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { decide, open, personKey, setRule, TRANSFER } from '../support/approvals.ts'

describe.each(someDialects())('can_vote on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
  })
  afterAll(() => api.remit.close())

  let next = 0
  const request = async (rule: object = {}, key?: string) => {
    const vendor = `vendor ${++next}`
    await setRule(api, { condition: `context.vendor == "${vendor}"`, ...rule }, `rule-${next}`)
    const context = { ...TRANSFER.context, vendor }
    if (key === undefined) return open(api, { ...TRANSFER, context })
    const body = { ...TRANSFER, context }
    const { approval } = await api.ok('authorize', { body, key })
    return approval!.id
  }
  const seen = async (id: string, key: string) => {
    const { can_vote, why_not } = await api.ok('getApproval', { params: { id }, key })
    const { data } = await api.ok('listApprovals', { query: { limit: 1000 }, key })
    const listed = data.find((one) => one.id === id)
    expect([listed?.can_vote, listed?.why_not]).toEqual([can_vote, why_not])
    return { can_vote, why_not }
  }
  const key = async (role: Role) => (await createKey(api.remit.writer, api.org.id, { role })).secret

  /** The endpoint that decides must agree, as nobody else says whose vote counts. */
  async function agrees(id: string, secret: string) {
    const { can_vote } = await seen(id, secret)
    const response = await api.call('decideApproval', {
      params: { requestID: id },
      body: { decision: 'approve', comment: 'checked' },
      key: secret,
    })
    expect(response.status === 200).toBe(can_vote)
  }

  it.each(['admin', 'approver'] as const)(
    'the role %s can, where no rule objects',
    async (role) => {
      const secret = await key(role)
      const id = await request()
      expect(await seen(id, secret)).toEqual({ can_vote: true, why_not: null })
      await agrees(id, secret)
    },
  )

  it.each(['read', 'ingest'] as const)('the role %s cannot, and is told so', async (role) => {
    const id = await request()
    const secret = await key(role)
    expect(await seen(id, secret)).toEqual({
      can_vote: false,
      why_not: `The role ${role} cannot decide; the roles admin and approver can`,
    })
    await agrees(id, secret)
  })

  it('the requester cannot, under any key that names the same person', async () => {
    const asking = await personKey(api, 'admin', 'Ada@example.org')
    const other = await personKey(api, 'approver', 'ada@example.org')
    const id = await request({}, asking)
    const refused = {
      can_vote: false,
      why_not: `The requester cannot decide under the rule rule-${next}`,
    }
    expect(await seen(id, asking)).toEqual(refused)
    expect(await seen(id, other)).toEqual(refused)
    await agrees(id, other)
  })

  it('a voter cannot again, and nobody can once the request is decided', async () => {
    const ada = await personKey(api, 'approver', 'ada@example.org')
    const bob = await personKey(api, 'approver', 'bob@example.org')
    const id = await request({ required_approvals: 2 })
    await decide(api, id, { decision: 'approve' }, ada)
    expect(await seen(id, ada)).toEqual({
      can_vote: false,
      why_not: 'You have voted to approve the request',
    })
    await decide(api, id, { decision: 'approve' }, bob)
    expect(await seen(id, await key('admin'))).toEqual({
      can_vote: false,
      why_not: 'The request is approved',
    })
  })

  it('only those whom the rule lists can', async () => {
    const id = await request({ approvers: { users: ['eve@example.org'], roles: [] } })
    const eve = await personKey(api, 'approver', 'EVE@example.org')
    expect((await seen(id, await key('approver'))).why_not).toBe(
      `The rule rule-${next} lets only eve@example.org decide`,
    )
    expect((await seen(id, eve)).can_vote).toBe(true)
    await agrees(id, eve)
  })

  it('who is not listed is told the rule and all who can decide, up to ten', async () => {
    const approvers = { users: ['eve@example.org', 'bob@example.org'], roles: ['admin'] }
    const id = await request({ approvers })
    expect((await seen(id, await key('approver'))).why_not).toBe(
      `The rule rule-${next} lets only eve@example.org, bob@example.org, and the role admin decide`,
    )
    const users = Array.from({ length: 12 }, (_, i) => `p${i}@example.org`)
    const many = await request({ approvers: { users, roles: [] } })
    expect((await seen(many, await key('approver'))).why_not).toMatch(/p9@example\.org, and 2 more/)
  })

  it('four eyes and separate keys count before the rules', async () => {
    const { id: orgId } = api.org
    const change = (settings: object) =>
      updateSettings(
        api.remit.writer,
        orgId,
        { caller: null, claim: null, wantsNote: false },
        settings as Record<string, unknown>,
      )
    const asking = await key('admin')
    const id = await request({}, asking)
    await change({ four_eyes: true })
    expect((await seen(id, asking)).why_not).toBe('The key that made the request cannot decide it')
    await change({ four_eyes: null, require_separate_keys: true })
    expect((await seen(id, asking)).why_not).toBe('The organization requires the role approver')
    await change({ require_separate_keys: null })
  })
})
