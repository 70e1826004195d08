import { createClock, createTestRemit, prune, someDialects } from '@remit/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import governance from '../../src/index.ts'
import { apiOf } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import {
  append,
  caughtUp,
  createSinkApi,
  recordsOf,
  loopback,
  PATIENCE,
  seqsOf,
  sizeOf,
  startSinkReceiver,
  upTo,
} from '../support/sinks.ts'
import type { SinkReceiver } from '../support/sinks.ts'

const DAY_MS = 86_400_000

describe.each(someDialects())('sinks on %s', (dialect) => {
  const clock = createClock('2026-11-20T08:00:00.000Z')
  let all: Api
  let api: Api
  let receiver: SinkReceiver
  beforeAll(async () => {
    all = await createSinkApi({ dialect, clock })
  })
  afterAll(() => all.remit.close())
  beforeEach(async () => {
    receiver = await startSinkReceiver()
    api = all.as(await all.remit.organization())
  })
  afterEach(() => receiver[Symbol.asyncDispose]())

  const create = (more: object = {}) =>
    api.ok('createSink', {
      body: { type: 'https', target: { url: `${receiver.origin}/in` }, from_seq: 0, ...more },
    })

  it('receive every entry in order, exactly as the ledger has it', async () => {
    await append(api, 3)
    const { id } = await create()
    await caughtUp(api, id, clock)
    await append(api, 3)
    await caughtUp(api, id, clock)

    expect(seqsOf(receiver)).toEqual(upTo(await sizeOf(api)))
    const lines = recordsOf(receiver)
    const { data } = await api.ok('listEntries', { query: { order: 'asc', limit: '1000' } })
    expect(lines).toEqual(data.map((entry) => ({ org_id: api.org.id, ...entry })))
  })

  it('begin at from_seq, and without it at the entry of their own creation', async () => {
    await append(api, 3)
    const size = await sizeOf(api)
    const { id, watermark_seq: watermark } = await create({ from_seq: undefined })
    await caughtUp(api, id, clock)
    expect(watermark).toBe(size - 1)
    expect(seqsOf(receiver)).toEqual(upTo(await sizeOf(api), size))

    const second = await create({ from_seq: 2, target: { url: `${receiver.origin}/second` } })
    await caughtUp(api, second.id, clock)
    expect(seqsOf(receiver, '/second')).toEqual(upTo(await sizeOf(api), 2))
  })

  it('pass the entries that kinds leaves out', async () => {
    await append(api, 2)
    const { id } = await create({ kinds: ['organization.*', 'sink.created'] })
    const sink = await caughtUp(api, id, clock)

    expect(recordsOf(receiver).map(({ kind }) => kind)).toEqual([
      'organization.created',
      'sink.created',
    ])
    expect(sink.watermark_seq).toBe((await sizeOf(api)) - 1)
  })

  it('wait for a receiver that fails, tell why, and then continue where they were', async () => {
    receiver.answer = () => ({ status: 503 })
    const { id } = await create()
    const failed = await vi.waitFor(async () => {
      const sink = await api.ok('getSink', { params: { id } })
      expect(sink.last_error).not.toBeNull()
      return sink
    }, PATIENCE)
    expect(failed).toMatchObject({
      state: 'retrying',
      watermark_seq: null,
      last_error: { code: 'http_status', status: 503 },
    })
    await append(api, 5)

    receiver.answer = () => ({ status: 200 })
    // A change retries at once.
    await api.ok('changeSink', { params: { id }, body: {} })

    expect(await caughtUp(api, id, clock)).toMatchObject({ state: 'streaming', last_error: null })
    expect(seqsOf(receiver)).toEqual(upTo(await sizeOf(api)))
  })

  it('send everything in order after ten minutes of load without a receiver', async () => {
    const { id } = await create()
    await caughtUp(api, id, clock)
    const sent = receiver.accepted.length
    receiver.answer = () => (receiver.requests % 2 === 0 ? null : { status: 503 })
    const load = new AbortController()
    const loaded = Array.from({ length: 4 }, async () => {
      while (!load.signal.aborted) await append(api, 1)
    })
    const { requests } = receiver
    const end = clock.now() + 600_000
    try {
      await vi.waitUntil(() => {
        clock.advance(20_000)
        return clock.now() >= end && receiver.requests >= requests + 3
      }, PATIENCE)
      expect(receiver.accepted).toHaveLength(sent)

      receiver.answer = () => ({ status: 200 })
      await vi.waitUntil(() => {
        clock.advance(20_000)
        return receiver.accepted.length > sent
      }, PATIENCE)
    } finally {
      load.abort()
      await Promise.all(loaded)
    }
    expect(await caughtUp(api, id, clock)).toMatchObject({ state: 'streaming', last_error: null })
    expect(seqsOf(receiver)).toEqual(upTo(await sizeOf(api)))
  })

  it('repeat a batch whose acceptance they did not see', async () => {
    receiver.answer = () => null
    const { id } = await create()
    await vi.waitUntil(async () => {
      const { last_error: error } = await api.ok('getSink', { params: { id } })
      return error?.code === 'response_broken'
    }, PATIENCE)
    receiver.answer = () => ({ status: 200 })
    clock.advance(60_000)

    await caughtUp(api, id, clock)
    expect(seqsOf(receiver)).toEqual(upTo(await sizeOf(api)))
  })

  it('stop at pruned entries, and skip them only on request', async () => {
    const { id } = await create({ enabled: false })
    await append(api, 3)
    // One checkpoint a minute is kept, and a cut is made at one of them.
    clock.advance(60_000)
    await append(api, 1)
    clock.advance(500 * DAY_MS)
    await append(api, 1)
    await prune(api, clock)
    await api.ok('changeSink', { params: { id }, body: { enabled: true } })

    await vi.waitFor(async () => {
      const { last_error: error } = await api.ok('getSink', { params: { id } })
      expect(error).toMatchObject({ code: 'ledger_pruned' })
    }, PATIENCE)
    expect(receiver.requests).toBe(0)
    const size = await sizeOf(api)
    await api.ok('changeSink', { params: { id }, body: { from_seq: size } })
    await caughtUp(api, id, clock)
    expect(seqsOf(receiver)).toEqual(upTo(await sizeOf(api), size))
  })

  it('send nothing while they are paused, and all of it afterwards', async () => {
    const { id } = await create({ enabled: false })
    const other = await create({ target: { url: `${receiver.origin}/other` } })
    await append(api, 3)
    await caughtUp(api, other.id, clock)
    expect(receiver.accepted.some(({ path }) => path === '/in')).toBe(false)

    await api.ok('changeSink', { params: { id }, body: { enabled: true } })
    await caughtUp(api, id, clock)
    expect(seqsOf(receiver, '/in')).toEqual(upTo(await sizeOf(api)))
  })

  it('do not wait for another one that hangs', async () => {
    receiver.answer = ({ path }) => (path === '/hangs' ? null : { status: 200 })
    await create({ target: { url: `${receiver.origin}/hangs` } })
    const { id } = await create()

    await caughtUp(api, id, clock)
    expect(seqsOf(receiver)).toEqual(upTo(await sizeOf(api)))
  })
})

it('two processes send every entry, in order', async () => {
  await using receiver = await startSinkReceiver()
  const here = await createSinkApi({ dialect: 'postgres' })
  const { url, signingKey } = here.remit
  const options = { modules: [governance], url, signingKey, outbound: loopback }
  const there = apiOf(await createTestRemit(options), here.org)
  const target = { url: `${receiver.origin}/in` }
  const { id } = await here.ok('createSink', { body: { type: 'https', target, from_seq: 0 } })
  await Promise.all([append(here, 20), append(there, 20)])

  await caughtUp(there, id)
  expect(seqsOf(receiver)).toEqual(upTo(await sizeOf(here)))
  await there.remit.close()
  await here.remit.close()
})
