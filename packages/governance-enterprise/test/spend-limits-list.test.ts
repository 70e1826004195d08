import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

// In the order of their bytes, which is not the order of a language.
const AGENTS = ['0', 'B', 'Z', 'a', 'a-b', 'a.b', 'a_b', 'ab', 'z']

describe.each(someDialects())('GET /v1/spend-limits on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
    for (const id of AGENTS.toReversed())
      await api.ok('setSpendLimit', { params: { id }, body: { daily_usd: 1 } })
    await api.ok('appendEntry', { body: { action: 'a.b', agent_id: 'a.b', cost_usd: 0.5 } })
  })
  afterAll(() => api.remit.close())

  it('200 with every limit in the order of the agents, each with its spend', async () => {
    const { data, next_cursor } = await api.ok('listSpendLimits')

    expect(data.map((limit) => limit.agent_id)).toEqual(AGENTS)
    expect(next_cursor).toBeNull()
    expect(data.map((limit) => limit.spent.day.usd)).toEqual(
      AGENTS.map((id) => (id === 'a.b' ? 0.5 : 0)),
    )
  })

  it('200 page by page, everything once', async () => {
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<typeof api.ok<'listSpendLimits'>>> = await api.ok(
        'listSpendLimits',
        {
          query: { limit: 2, ...(cursor && { cursor }) },
        },
      )
      seen.push(...page.data.map((limit) => limit.agent_id))
      cursor = page.next_cursor
    } while (cursor !== null)

    expect(seen).toEqual(AGENTS)
  })

  it('200 and empty for an organization without limits', async () => {
    const other = api.as(await api.remit.organization())

    expect(await other.ok('listSpendLimits')).toEqual({ data: [], next_cursor: null })
  })

  it.each([{ limit: 0 }, { limit: 1001 }, { limit: 'all' }, { page: 2 }])(
    '400 for %j',
    async (query) => {
      expect((await api.refusal('listSpendLimits', { query })).code).toBe('invalid_request')
    },
  )
})
