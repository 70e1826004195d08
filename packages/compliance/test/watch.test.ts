import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { recordHeartbeat } from '../src/watch/heartbeat.ts'
import { createWatching } from './support/watching.ts'
import type { Watching } from './support/watching.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

describe.each(someDialects())('the watch of an installation on %s', (dialect) => {
  let clock: TestClock
  let one: Watching
  let other: Watching
  let id: string

  beforeEach(async () => {
    clock = createClock('2026-11-20T23:58:00.000Z')
    one = await createWatching({ dialect, clock })
    const { url, signingKey } = one.remit
    other = await createWatching({ url, clock, signingKey })
    ;({ id } = await one.remit.organization())
  })
  afterEach(async () => {
    await other.remit.close()
    await one.remit.close()
  })

  const heartbeats = async (orgId = id) => {
    const { data } = await one.remit.ledger.list(orgId, {
      kind: 'ledger.heartbeat',
      order: 'asc',
      limit: 100,
    })
    return data.map(({ recorded_at, data: said, actor }) => {
      expect(actor).toEqual({ type: 'system', id: 'remit' })
      expect(said).toEqual({ day: recorded_at.slice(0, 10) })
      return recorded_at.slice(0, 10)
    })
  }

  test('every ledger has one heartbeat a day, however many processes look', async () => {
    const { id: second } = await one.remit.organization()
    for (let look = 0; look < 8; look++) {
      await Promise.all([one.watch.look(), other.watch.look(), one.watch.look()])
      clock.advance(DAY / 3)
    }

    const days = ['2026-11-20', '2026-11-21', '2026-11-22']
    expect(await heartbeats()).toEqual(days)
    expect(await heartbeats(second)).toEqual(days)
  })

  test('one process does it; another takes over when its time is up, or it has closed', async () => {
    await one.watch.look()
    clock.advance(2.5 * MINUTE)
    await other.watch.look()
    expect(await heartbeats()).toEqual(['2026-11-20'])

    clock.set('2026-11-21T22:58:00.000Z')
    await other.watch.look()
    expect(await heartbeats()).toEqual(['2026-11-20', '2026-11-21'])

    clock.set('2026-11-22T21:57:59.000Z')
    await other.watch.look()
    clock.set('2026-11-22T21:58:01.000Z')
    await one.watch.look()
    expect(await heartbeats()).toHaveLength(2)
    await other.watch.close()
    await one.watch.look()
    expect(await heartbeats()).toEqual(['2026-11-20', '2026-11-21', '2026-11-22'])
  })

  test('two processes that both believe to be the one write one heartbeat', async () => {
    const beats = [one, other, one, other].map(({ remit }) => recordHeartbeat(remit.writer, id))

    expect((await Promise.all(beats)).filter(Boolean)).toHaveLength(1)
    expect(await heartbeats()).toEqual(['2026-11-20'])
  })

  test('no ledger is silent for a day, though each look is later than the one before', async () => {
    const LATE = 1.2
    for (let look = 0; look < 3 * 24 * 6; look++) {
      await one.watch.look()
      clock.advance(10 * MINUTE + 10 * LATE)
    }
    const { data } = await one.remit.ledger.list(id, {
      kind: 'ledger.heartbeat',
      order: 'asc',
      limit: 100,
    })
    const times = data.map(({ recorded_at }) => Date.parse(recorded_at))
    const silences = times.slice(1).map((time, i) => time - times[i]!)

    expect(silences).toHaveLength(3)
    expect(Math.max(...silences)).toBeLessThan(DAY)
    expect(Math.min(...silences)).toBeGreaterThan(22 * 60 * MINUTE)
  })

  test('a clock that steps back writes no second one', async () => {
    clock.advance(5 * MINUTE)
    await one.watch.look()
    clock.set('2026-11-20T23:58:00.000Z')
    await one.watch.look()
    clock.advance(5 * MINUTE)
    await one.watch.look()

    expect(await heartbeats()).toEqual(['2026-11-21'])
  })

  test('a ledger that cannot be written keeps none of the others waiting', async () => {
    const { id: later } = await one.remit.organization()
    await one.remit.db.deleteFrom('ledger_head').where('org_id', '=', id).execute()
    await one.watch.look()

    expect(await heartbeats(later)).toEqual(['2026-11-20'])
  })

  test('an organization without a plan for ledgers has no heartbeat', async () => {
    const { id: free } = await one.remit.organization('free')
    await one.watch.look()

    expect(await heartbeats(free)).toEqual([])
    expect(await heartbeats()).toHaveLength(1)
  })
})
