import { contract } from '@remit/contract'
import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { approved, ask, decide, open, read, setRule, TRANSFER } from '../support/approvals.ts'

describe.each(someDialects())('reading approvals on %s', (dialect) => {
  let first: Api
  let api: Api
  const clock = createClock()
  beforeAll(async () => {
    first = await createApi({ dialect, clock })
  })
  afterAll(() => first.remit.close())
  beforeEach(async () => {
    api = first.as(await first.remit.organization())
    await setRule(api)
  })

  const asked = (n: number, agent_id = 'payer') =>
    open(api, { ...TRANSFER, agent_id, context: { n } })
  const list = (query: Record<string, string | number> = {}) => api.ok('listApprovals', { query })

  describe('GET /v1/approvals', () => {
    it('200 with pages, newest first, and filters by agent', async () => {
      const ids = []
      for (let n = 0; n < 5; n++) {
        ids.push(await asked(n, n === 3 ? 'other' : 'payer'))
        clock.advance(1)
      }

      const page = await list({ limit: 3 })
      const rest = await list({ cursor: page.next_cursor ?? '' })
      expect([...page.data, ...rest.data].map(({ id }) => id)).toEqual(ids.toReversed())
      expect(rest.next_cursor).toBeNull()
      expect((await list({ agent_id: 'other' })).data.map(({ id }) => id)).toEqual([ids[3]])
    })

    it('200 by current status, recorded or not', async () => {
      await setRule(api, { approval_ttl_seconds: 60, request_ttl_seconds: 600 })
      const [pending, unused, refused, used] = [
        await asked(1),
        await asked(2),
        await asked(3),
        await asked(4),
      ]
      await decide(api, unused)
      await decide(api, refused, { decision: 'reject' })
      await decide(api, used)
      await ask(api, { ...TRANSFER, context: { n: 4 } })
      const by = async (status: string) => (await list({ status })).data.map(({ id }) => id)

      expect(await by('pending')).toEqual([pending])
      expect(await by('approved')).toEqual([unused])
      expect(await by('rejected')).toEqual([refused])
      expect(await by('consumed')).toEqual([used])
      expect(await by('expired')).toEqual([])
      clock.advance(60_000)
      expect(await by('approved')).toEqual([])
      expect(await by('expired')).toEqual([unused])
      clock.advance(540_000)
      expect(await by('pending')).toEqual([])
      expect((await by('expired')).toSorted()).toEqual([pending, unused].toSorted())
      expect((await read(api, pending)).status).toBe('expired')
    })

    it('400 for an unknown status', async () => {
      const problem = await api.refusal('listApprovals', { query: { status: 'open' } })

      expect(problem.errors?.map((error) => error.path)).toEqual(['status'])
    })

    it('200 without requests of another organization', async () => {
      await asked(1)
      const other = api.as(await api.remit.organization())

      expect((await other.ok('listApprovals')).data).toEqual([])
    })
  })

  describe('GET /v1/approvals/{id}', () => {
    it('404 for an unknown request and for that of another organization', async () => {
      const id = await asked(1)
      const other = api.as(await api.remit.organization())

      for (const refused of [
        await api.refusal('getApproval', { params: { id: 'apr_none' } }),
        await other.refusal('getApproval', { params: { id }, query: { wait: 1 } }),
      ]) {
        expect(refused.code).toBe('approval_not_found')
      }
    })

    it.each(['-1', '56', '1.5', 'x', ''])('400 for a wait of %s', async (wait) => {
      const params = { id: await asked(1) }

      const problem = await api.refusal('getApproval', { params, query: { wait } })

      expect(problem.errors?.map((error) => error.path)).toEqual(['wait'])
    })

    it('200 for the roles that ask, decide and read', async () => {
      const id = await asked(1)
      for (const role of ['ingest', 'approver', 'read'] as const) {
        const key = await api.remit.key(api.org.id, role)
        expect((await api.ok('getApproval', { params: { id }, key })).id).toBe(id)
      }
    })
  })

  it('a GET or HEAD of every link decides nothing', async () => {
    const ids = [await asked(1), await approved(api)]
    const state = async () => JSON.stringify(await Promise.all(ids.map((id) => read(api, id))))
    const before = await state()
    const { size } = await api.remit.ledger.head(api.org.id)

    const paths = new Set(
      Object.values(contract)
        .map(({ path }) => path)
        .filter((path) => path.startsWith('/v1/approval')),
    )
    for (const id of ids) {
      for (const method of ['GET', 'HEAD']) {
        for (const path of paths) {
          const url = path.replace(/\{\w+\}/, path.includes('rules') ? 'large' : id)
          const query = url.endsWith('decide') ? '?decision=approve&approver=alice' : ''
          const response = await api.remit.call(method, url + query, { key: api.org.key })
          await response.body?.cancel()
        }
      }
    }

    expect(await state()).toBe(before)
    expect((await api.remit.ledger.head(api.org.id)).size).toBe(size)
    expect((await api.call('getApproval', { params: { id: ids[0] ?? '' } })).status).toBe(200)
    const decideUrl = `/v1/approvals/${ids[0]}/decide`
    expect((await api.remit.call('GET', decideUrl, { key: api.org.key })).status).toBe(405)
  })
})
