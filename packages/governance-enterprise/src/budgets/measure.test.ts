import { DecisionMeter } from '@remit/core/decision'
import type { Ask } from '@remit/core/decision'

import { describe, expect, it, vi } from 'vitest'
import { measureWith } from './measure.ts'
import type { SpendQuery } from './measure.ts'

const ask = (agent_id: string): Ask => ({
  orgId: 'org_1',
  plan: 'team',
  decisionId: 'dec_1',
  caller: null,
  claims: {},
  request: { agent_id, action: 'a.b' },
  resource: null,
  meter: new DecisionMeter(),
  now: Date.parse('2026-11-20T08:00:00.000Z'),
})

const limits = new Map(
  ['payer', 'a', 'b', 'c'].map((id) => [id, { caps: { hour: null, day: 1, month: 1 } }]),
)

/** The measurement of agent `payer` by a source with these answers. */
const measured = async (
  spent: (query: SpendQuery, signal: AbortSignal) => Promise<number>,
  deadlineMs = 1_000,
) => (await measureWith({ spent }, deadlineMs)([ask('payer')], limits)).get('payer')

describe('measureWith', () => {
  it('asks once for each agent and window, whatever the number of its requests', async () => {
    const asked: SpendQuery[] = []
    const measure = measureWith({ spent: (query) => Promise.resolve(asked.push(query)) }, 1_000)

    await measure([ask('a'), ask('b'), ask('a'), ask('unlimited')], limits)

    expect(asked).toHaveLength(4)
    expect(asked).toContainEqual({ orgId: 'org_1', agentId: 'a', window: '2026-11-20' })
    expect(asked).toContainEqual({ orgId: 'org_1', agentId: 'b', window: '2026-11' })
  })

  it('asks for the hour only where it has a cap', async () => {
    const asked: string[] = []
    const spent = ({ window }: SpendQuery) => Promise.resolve(asked.push(window))
    const capped = new Map([['payer', { caps: { hour: 1, day: null, month: null } }]])

    await measureWith({ spent }, 1_000)([ask('payer')], capped)

    expect(asked).toEqual(['2026-11-20T08', '2026-11-20', '2026-11'])
  })

  it('gives day and month apart', async () => {
    const usd = await measured(({ window }) => Promise.resolve(window.length === 10 ? 1.5 : 20))

    expect(usd).toEqual({ day: 1.5, month: 20 })
  })

  it.each([Number.NaN, Infinity, -Infinity, -0.01, 1e308, 1e10])(
    'takes %d for no answer',
    async (usd) => {
      expect(await measured(() => Promise.resolve(usd))).toBeNull()
    },
  )

  it('takes no answer for one window for none at all', async () => {
    expect(
      await measured(({ window }) =>
        window.length === 10 ? Promise.resolve(1) : Promise.reject(new Error('down')),
      ),
    ).toBeNull()
  })

  it.each([
    ['fails', () => Promise.reject(new Error('down'))],
    [
      'fails at once',
      () => {
        throw new Error('down')
      },
    ],
    ['ignores its signal', () => new Promise<number>(() => undefined)],
    [
      'heeds its signal',
      (_: SpendQuery, signal: AbortSignal) =>
        new Promise<number>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')))
        }),
    ],
  ])('has no answer when the source %s', async (_, spent) => {
    expect(await measured(spent, 20)).toBeNull()
  })

  it.each<[string, (query: SpendQuery) => Promise<number>, number]>([
    ['no', () => Promise.resolve(1), 0],
    ['one', ({ window }) => Promise.resolve(window.length === 10 ? 1 : -1), 1],
    ['each', () => Promise.reject(new Error('down')), 4],
    ['each unanswered', () => new Promise(() => undefined), 4],
    ['some', ({ agentId }) => Promise.resolve(agentId === 'a' ? Number.NaN : 1), 2],
  ])('reports each request without a usable answer: %s', async (_, spent, count) => {
    let failures = 0
    const measure = measureWith({ spent }, 20, () => void failures++)

    await measure(['a', 'b', 'a'].map(ask), limits)

    const expected = count === 1 ? 2 : count
    await vi.waitFor(() => expect(failures).toBe(expected), { timeout: 60_000 })
  })

  it('has the answers of the other agents', async () => {
    const spent = ({ agentId }: SpendQuery) =>
      agentId === 'a' ? Promise.reject(new Error('down')) : Promise.resolve(2)

    const all = await measureWith({ spent }, 1_000)([ask('a'), ask('b')], limits)

    expect([...all]).toEqual([
      ['a', null],
      ['b', { day: 2, month: 2 }],
    ])
  })
})
