import { OPERATOR, SYSTEM } from '@remit/core'
import { DIALECTS } from '@remit/core/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const LARGE = 240
const AGENT = 'talker'

describe.each(DIALECTS)('GET /v1/ledger where entries are large, on %s', (dialect) => {
  let api: Api
  let size = 0
  beforeAll(async () => {
    api = await createApi({ dialect })
    const data = { text: '漢'.repeat(80_000) }
    const entry = { kind: 'test.said', actor: SYSTEM, agent_id: AGENT, data }
    for (let i = 0; i < LARGE; i += 20)
      await api.remit.writer.work(api.org.id, OPERATOR, () =>
        Promise.resolve({
          entries: Array.from({ length: 20 }, () => entry),
          reply: () => undefined,
        }),
      )
    ;({ size } = await api.remit.ledger.head(api.org.id))
  })
  afterAll(() => api.remit.close())

  it.each([
    ['asc', {}],
    ['desc', {}],
    ['desc', { agent_id: AGENT }],
  ] as const)('a page ends early, and the next goes on: %s %j', async (order, filter) => {
    const pages: number[][] = []
    let cursor: string | null = null
    do {
      const page: { data: { seq: number }[]; next_cursor: string | null } = await api.ok(
        'listEntries',
        { query: { order, limit: 1_000, ...filter, ...(cursor && { cursor }) } },
      )
      pages.push(page.data.map(({ seq }) => seq))
      cursor = page.next_cursor
    } while (cursor !== null)

    const all = Array.from({ length: size }, (_, seq) => seq).filter(
      (seq) => !('agent_id' in filter) || seq >= size - LARGE,
    )
    expect(pages.flat()).toEqual(order === 'asc' ? all : all.toReversed())
    expect(pages.length).toBeGreaterThan(1)
  })
})
