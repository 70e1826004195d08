import { SYSTEM } from '@remit/core/caller'
import { OPERATOR } from '@remit/core/orgs'
import { handMade, refusalOf, someDialects } from '@remit/testing'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'
import { openEvents } from './support/events.ts'

const STREAMS = 70
const ENTRIES = 110

describe.each(someDialects())('many event streams of an organization on %s', (dialect) => {
  let first: Api
  let api: Api
  const logged: string[] = []
  beforeAll(async () => {
    const log = pino({ level: 'warn' }, { write: (line) => void logged.push(line) })
    first = await createApi({ dialect, log })
  })
  afterAll(() => first.remit.close())
  beforeEach(async () => {
    api = first.as(await first.remit.organization())
    const data = { text: 'x'.repeat(500) }
    const entry = handMade({ kind: 'approval.said', actor: SYSTEM, data })
    await api.remit.writer.work(api.org.id, OPERATOR, () =>
      Promise.resolve({
        entries: Array.from({ length: ENTRIES }, () => entry),
        reply: () => undefined,
      }),
    )
  })
  const open = (from: 'streamEntries' | 'streamApprovals', count: number) =>
    Promise.all(
      Array.from({ length: count }, () => openEvents(api, { from, query: { after_seq: 0 } })),
    )

  it.each(['streamEntries', 'streamApprovals'] as const)(
    '%s: others have a turn after each piece of a stream that catches up',
    async (from) => {
      let turns = 0
      const count = () => {
        turns++
        immediate = setImmediate(count)
      }
      let immediate = setImmediate(count)
      const streams = await open(from, 10)
      await Promise.all(streams.map((stream) => stream.next(ENTRIES)))
      clearImmediate(immediate)

      // A stream needs two pieces at least.
      expect(turns).toBeGreaterThanOrEqual(2 * streams.length)
      await Promise.all(streams.map((stream) => stream.leave()))
    },
  )

  it.each(['streamEntries', 'streamApprovals'] as const)(
    '%s: all of them receive all entries, although few may read at a time',
    async (from) => {
      const streams = await open(from, STREAMS)
      const counts = await Promise.all(streams.map((stream) => stream.next(ENTRIES)))

      expect(counts.map((events) => events.length)).toEqual(streams.map(() => ENTRIES))
      await Promise.all(streams.map((stream) => stream.leave()))
    },
  )

  it('a read that waits for its turn ends with its client', async () => {
    const { ledger } = api.remit
    const before = Promise.withResolvers<void>()
    const running = ledger.paced(api.org.id, () => before.promise)
    const client = new AbortController()
    let isRead = false
    const read = () => Promise.resolve((isRead = true))
    const waiting = ledger.paced(api.org.id, read, client.signal).catch((error: unknown) => error)

    client.abort()

    expect(await waiting).toBe(client.signal.reason)
    before.resolve()
    await running
    expect(isRead).toBe(false)
  })

  it('a stream that its client leaves while it reads is no failure', async () => {
    const streams = await open('streamEntries', 20)
    await Promise.all(streams.map((stream) => stream.leave()))
    await api.ok('authorize', { body: { agent_id: 'a', action: 'x' } })

    expect(logged).toEqual([])
  })

  it('an organization has 500 of them at most, with however many keys, and others more', async () => {
    const keys = await Promise.all(
      Array.from({ length: 6 }, () => api.remit.key(api.org.id, 'read')),
    )
    const opened = await Promise.all(
      keys
        .slice(0, 5)
        .flatMap((key) =>
          Array.from({ length: 100 }, () => openEvents(api, { key, from: 'streamEntries' })),
        ),
    )
    const refused = await api.call('streamEntries', { key: keys[5] ?? '' })
    const other = api.as(await api.remit.organization())
    const theirs = await openEvents(other, { from: 'streamEntries' })

    expect((await refusalOf(refused)).code).toBe('rate_limited')
    await Promise.all([...opened, theirs].map((stream) => stream.leave()))
  })
})
