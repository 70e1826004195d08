import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api, Ok } from './support/api.ts'

describe.each(someDialects())('policies on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
  })
  afterAll(() => api.remit.close())

  const anew = async () => api.as(await api.remit.organization())
  const create = (org: Api, body: object = {}) =>
    org.ok('createPolicy', { body: { effect: 'deny', ...body } })

  describe('GET /v1/policies', () => {
    it('200 page by page, everything once, in the order of their making', async () => {
      const org = await anew()
      const made: string[] = []
      for (let i = 0; i < 7; i++) made.push((await create(org)).id)

      const seen: string[] = []
      let cursor: string | null = null
      do {
        const page: Ok<'listPolicies'> = await org.ok('listPolicies', {
          query: { limit: 3, ...(cursor && { cursor }) },
        })
        seen.push(...page.data.map(({ id }) => id))
        cursor = page.next_cursor
      } while (cursor !== null)

      expect(seen).toEqual(made.toSorted())
    })

    it('200 with each rule as created, enabled or not', async () => {
      const org = await anew()
      const {
        ledger: _,
        warnings: __,
        ...rule
      } = await create(org, {
        enabled: false,
        actions: ['a.b', 'c.*'],
        condition: "action == 'a.b'",
      })

      expect(await org.ok('listPolicies')).toEqual({ data: [rule], next_cursor: null })
    })

    it('200 and empty for an organization whose neighbor has rules', async () => {
      await create(api)

      expect(await (await anew()).ok('listPolicies')).toEqual({ data: [], next_cursor: null })
    })

    it('200 for the roles that read, 403 for ingest', async () => {
      for (const role of ['read', 'approver'] as const)
        await api.ok('listPolicies', { key: await api.remit.key(api.org.id, role) })
      const key = await api.remit.key(api.org.id, 'ingest')

      expect((await api.refusal('listPolicies', { key })).code).toBe('role_required')
    })

    it.each([{ limit: 0 }, { limit: 1001 }, { limit: 'all' }, { page: 2 }])(
      '400 for %j',
      async (query) => {
        expect((await api.refusal('listPolicies', { query })).code).toBe('invalid_request')
      },
    )
  })

  describe('DELETE /v1/policies/{policyID}', () => {
    it('204, with the full rule in its entry, and the next decision does not know it', async () => {
      const org = await anew()
      const { ledger: _, warnings: __, ...policy } = await create(org, { actions: ['a.*'] })
      const body = { agent_id: 'payer', action: 'a.b' }
      expect((await org.ok('authorize', { body })).reason).toBe('policy_deny')

      await org.ok('deletePolicy', { params: { policyID: policy.id } })

      expect((await org.ok('authorize', { body })).reason).toBe('default_allow')
      const { data } = await org.ok('listEntries', { query: { kind: 'policy.deleted' } })
      expect(data).toMatchObject([{ data: { policy } }])
    })

    it('404 the second time, without an entry', async () => {
      const { id } = await create(api)
      const params = { policyID: id }
      await api.ok('deletePolicy', { params })
      const { head } = await api.ok('listEntries')

      expect((await api.refusal('deletePolicy', { params })).code).toBe('policy_not_found')
      expect((await api.ok('listEntries')).head).toEqual(head)
    })

    it("404 for another organization's rule, which stays", async () => {
      const org = await anew()
      const { id } = await create(org)

      const problem = await api.refusal('deletePolicy', { params: { policyID: id } })

      expect(problem.code).toBe('policy_not_found')
      expect((await org.ok('listPolicies')).data).toMatchObject([{ id }])
    })

    it('400 for what cannot be an id, 403 for every role but admin', async () => {
      const params = { policyID: 'a b' }
      expect((await api.refusal('deletePolicy', { params })).errors).toMatchObject([
        { path: 'policyID' },
      ])
      for (const role of ['ingest', 'approver', 'read'] as const) {
        const key = await api.remit.key(api.org.id, role)
        const problem = await api.refusal('deletePolicy', { params: { policyID: 'pol_1' }, key })
        expect(problem.code).toBe('role_required')
      }
    })
  })
})
