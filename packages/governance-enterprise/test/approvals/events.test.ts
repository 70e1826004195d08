import { endKey } from '@remit/core/orgs'
import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { approved, ask, decide, open, setRule } from '../support/approvals.ts'
import { openEvents } from '../support/events.ts'

describe.each(someDialects())('GET /v1/approvals/events on %s', (dialect) => {
  let first: Api
  let api: Api
  beforeAll(async () => {
    first = await createApi({ dialect })
  })
  afterAll(() => first.remit.close())
  beforeEach(async () => {
    api = first.as(await first.remit.organization())
    await setRule(api)
  })

  it('sends each event once, as in the ledger', async () => {
    const events = await openEvents(api)
    const id = await approved(api)
    await ask(api)

    const told = await events.next(3)

    expect(told.map(({ event }) => event)).toEqual([
      'approval.requested',
      'approval.decided',
      'approval.consumed',
    ])
    for (const { id: seq, data } of told) {
      expect(await api.ok('getEntry', { params: { seq } })).toMatchObject(data)
      expect(data.data.approval.id).toBe(id)
    }
    await events.leave()
  })

  it('starts with new events, unless a start is given', async () => {
    await approved(api)
    const events = await openEvents(api)
    await ask(api)

    expect((await events.next(1)).map(({ event }) => event)).toEqual(['approval.consumed'])
    await events.leave()
  })

  it('goes on after the last event that a client has', async () => {
    const events = await openEvents(api)
    const id = await open(api)
    const [first_] = await events.next(1)
    await events.leave()
    await decide(api, id)
    await ask(api)

    const again = await openEvents(api, { lastEventId: first_?.id ?? -1 })
    expect((await again.next(2)).map(({ event }) => event)).toEqual([
      'approval.decided',
      'approval.consumed',
    ])
    await again.leave()
    const byQuery = await openEvents(api, { query: { after_seq: first_?.id ?? -1 } })
    expect(await byQuery.next(2)).toHaveLength(2)
    await byQuery.leave()
  })

  it('goes on from the very first, also over many', async () => {
    for (let n = 0; n < 110; n++) {
      await decide(api, await open(api, { agent_id: 'a', action: 'payments.x', context: { n } }))
    }
    const events = await openEvents(api, { lastEventId: 0 })

    const told = await events.next(220)

    const seqs = told.map(({ id }) => id)
    expect(seqs).toEqual(seqs.toSorted((a, b) => a - b))
    expect(new Set(seqs).size).toBe(220)
    await events.leave()
  })

  it('does not wait for an id beyond the ledger', async () => {
    const events = await openEvents(api, { lastEventId: 999_999_999 })
    await open(api)

    expect(await events.next(1)).toHaveLength(1)
    await events.leave()
  })

  it('sends nothing of another organization', async () => {
    const other = api.as(await api.remit.organization())
    await setRule(other)
    const events = await openEvents(api, { lastEventId: 0 })
    await open(other)
    const own = await open(api)

    expect((await events.next(1)).map(({ data }) => data.data.approval.id)).toEqual([own])
    await events.leave()
  })

  it('ends when its key ends, before it sends anything more', async () => {
    const key = await api.remit.key(api.org.id, 'read')
    const events = await openEvents(api, { key })
    await endKey(api.remit.writer, api.org.id, `key_${key.slice(4, 20)}`)
    await open(api)

    await expect(events.next(1)).rejects.toThrow('only 0 of 1')
  })

  it('is not kept open for a HEAD request', async () => {
    const key = await api.remit.key(api.org.id, 'read')
    for (let n = 0; n < 101; n++) {
      const response = await api.remit.call('HEAD', '/v1/approvals/events', { key })
      expect(response.status).toBe(200)
    }
  })

  it('400 for an id that is none', async () => {
    const headers = { 'last-event-id': 'x' }

    const problem = await api.refusal('streamApprovals', { headers })

    expect(problem.errors?.map((error) => error.path)).toEqual(['Last-Event-ID'])
  })

  it('429 for the hundred and first stream of a key, until another one is left', async () => {
    const key = await api.remit.key(api.org.id, 'read')
    const streams = []
    for (let n = 0; n < 100; n++) streams.push(await openEvents(api, { key }))

    const problem = await api.refusal('streamApprovals', { key })
    expect(problem.code).toBe('rate_limited')
    expect((await api.call('streamApprovals', { key })).headers.get('retry-after')).toBe('1')
    await streams.pop()?.leave()
    streams.push(await openEvents(api, { key }))

    for (const stream of streams) await stream.leave()
  })
})

describe.each(someDialects())('a server that closes, on %s', (dialect) => {
  it('ends its streams and answers waiting requests', async () => {
    const api = await createApi({ dialect })
    await setRule(api)
    const params = { id: await open(api) }
    const events = await openEvents(api)
    const waiting = api.ok('getApproval', { params, query: { wait: 55 } })

    api.remit.release()

    await events.ended()
    expect((await waiting).status).toBe('pending')
    await api.remit.close()
  })
})
