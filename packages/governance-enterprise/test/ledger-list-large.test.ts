import { SYSTEM } from '@remit/core/caller'
import { OPERATOR } from '@remit/core/orgs'
import { fullDialects, handMade, refusalOf } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const LARGE = 60
const AGENT = 'talker'
/** Of one small entry among twenty. */
const TRACE = 'trace-1'

describe.each(fullDialects())('GET /v1/ledger where entries are large, on %s', (dialect) => {
  let api: Api
  let size = 0
  beforeAll(async () => {
    api = await createApi({ dialect })
    const said = (data: Record<string, string>) =>
      handMade({ kind: 'test.said', actor: SYSTEM, agent_id: AGENT, data })
    const large = said({ text: '漢'.repeat(80_000) })
    const small = said({ trace_id: TRACE })
    for (let i = 0; i < LARGE; i += 20)
      await api.remit.writer.work(api.org.id, OPERATOR, () =>
        Promise.resolve({
          entries: Array.from({ length: 20 }, (_, at) => (at === 7 ? small : large)),
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
    const lengths: number[] = []
    let cursor: string | null = null
    do {
      const page: { data: { seq: number }[]; next_cursor: string | null } = await api.ok(
        'listEntries',
        { query: { order, limit: 1_000, ...filter, ...(cursor && { cursor }) } },
      )
      pages.push(page.data.map(({ seq }) => seq))
      lengths.push(Buffer.byteLength(JSON.stringify(page)))
      cursor = page.next_cursor
    } while (cursor !== null)

    const all = Array.from({ length: size }, (_, seq) => seq).filter(
      (seq) => !('agent_id' in filter) || seq >= size - LARGE,
    )
    expect(pages.flat()).toEqual(order === 'asc' ? all : all.toReversed())
    expect(pages.length).toBeGreaterThan(1)
    expect(Math.max(...lengths)).toBeLessThan(1_500_000)
  })

  it('others have a turn between the pieces of a page, and of an export', async () => {
    const readers = [
      () => api.remit.ledger.list(api.org.id, { order: 'asc', limit: 1_000 }),
      async () => {
        for await (const piece of await api.remit.ledger.export(api.org.id))
          expect(Buffer.byteLength(piece)).toBeLessThan(600_000)
      },
    ]
    for (const read of readers) {
      let turns = 0
      const count = () => {
        turns++
        immediate = setImmediate(count)
      }
      let immediate = setImmediate(count)
      await read()
      clearImmediate(immediate)

      expect(turns).toBeGreaterThanOrEqual(4)
    }
  })

  it('others have a turn between the parts of a search in payloads, which finds all of them', async () => {
    for (const order of ['asc', 'desc'] as const) {
      let turns = 0
      const count = () => {
        turns++
        immediate = setImmediate(count)
      }
      let immediate = setImmediate(count)
      const { data } = await api.remit.ledger.list(api.org.id, {
        order,
        limit: 1_000,
        trace_id: TRACE,
      })
      clearImmediate(immediate)

      const traced = [0, 20, 40].map((batch) => size - LARGE + batch + 7)
      const seqs = data.map(({ seq }) => seq)
      expect(seqs).toEqual(order === 'asc' ? traced : traced.toReversed())
      expect(turns).toBeGreaterThanOrEqual(15)
    }
  })

  it('few large pages of an organization are made at a time; beyond, 429, and others are not', async () => {
    const query = { order: 'asc', limit: 1_000 }
    const own = Array.from({ length: 100 }, () => api.call('listEntries', { query }))
    const other = api.as(await api.remit.organization()).call('listEntries', { query })
    const answers = await Promise.all(own)
    const refused = answers.filter(({ status }) => status !== 200)

    expect(answers.length - refused.length).toBeGreaterThanOrEqual(2)
    expect(refused.length).toBeGreaterThan(0)
    for (const answer of refused) expect((await refusalOf(answer)).code).toBe('jobs_busy')
    expect((await other).status).toBe(200)
    expect((await api.call('listEntries', { query: { limit: 1 } })).status).toBe(200)
  })

  it('an organization reads four exports at a time, and one more when one of them ends', async () => {
    const open = await Promise.all(Array.from({ length: 4 }, () => api.call('exportEntries')))
    const other = api.as(await api.remit.organization())

    expect((await api.refusal('exportEntries')).code).toBe('jobs_busy')
    expect((await other.call('exportEntries')).status).toBe(200)
    await open[0]?.body?.cancel()
    const next = await api.call('exportEntries')
    expect(next.status).toBe(200)
    for (const one of [...open.slice(1), next]) await one.body?.cancel()
  })
})
