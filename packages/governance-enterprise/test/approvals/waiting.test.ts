import { endKey } from '@remit/core/orgs'
import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createApi, refusalOf } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { ask, decide, open, setRule } from '../support/approvals.ts'

describe.each(someDialects())('GET /v1/approvals/{id}?wait= on %s', (dialect) => {
  let first: Api
  let api: Api
  const clock = createClock()
  beforeAll(async () => {
    first = await createApi({ dialect, clock })
  })
  afterAll(() => first.remit.close())
  beforeEach(async () => {
    api = first.as(await first.remit.organization())
    await setRule(api, { required_approvals: 2, request_ttl_seconds: 60 })
  })

  const vote = (id: string, approver: string, decision = 'approve') =>
    decide(api, id, { decision, approver })

  /** The request when it stops being pending, and how long that took. */
  const wait = async (id: string, seconds: number, key?: string) => {
    const begin = performance.now()
    const query = { wait: seconds }
    const response = await api.call('getApproval', {
      params: { id },
      query,
      ...(key !== undefined && { key }),
    })
    return { response, ms: performance.now() - begin }
  }
  const statusOf = async ({ response }: { response: Response }) =>
    ((await response.json()) as { status: string }).status

  it('answers when the last vote comes, not at the first', async () => {
    const id = await open(api)
    let isOver = false
    const waiting = wait(id, 30)
    void waiting.then(() => (isOver = true))

    await vote(id, 'alice')
    await ask(api)
    expect(isOver).toBe(false)
    await vote(id, 'bob')

    const over = await waiting
    expect(await statusOf(over)).toBe('approved')
    expect(over.ms).toBeLessThan(5_000)
  })

  it.each(['reject', 'cancel'])('answers at a %s, all who wait', async (how) => {
    const id = await open(api)
    const waiting = [wait(id, 30), wait(id, 30), wait(id, 30)]

    if (how === 'reject') await vote(id, 'alice', 'reject')
    else await api.ok('cancelApproval', { params: { id } })

    const statuses = await Promise.all(waiting.map(async (one) => statusOf(await one)))
    expect(new Set(statuses)).toEqual(new Set([how === 'reject' ? 'rejected' : 'cancelled']))
  })

  it('is a request in flight to the metrics, until it is answered', async () => {
    const id = await open(api)
    const inFlight = async () =>
      /^remit_http_requests_in_flight (\d+)$/m.exec(
        await (await api.remit.call('GET', '/metrics')).text(),
      )?.[1]
    expect(await inFlight()).toBe('0')
    const waiting = wait(id, 30)

    // A text of the metrics may be a second old.
    const becomes = (count: string) =>
      vi.waitFor(async () => expect(await inFlight()).toBe(count), { timeout: 4_000 })
    await becomes('1')
    await vote(id, 'alice', 'reject')
    await waiting

    await becomes('0')
  })

  it('answers when the time is up', async () => {
    const id = await open(api)
    const waiting = wait(id, 30)

    clock.advance(60_000)

    const over = await waiting
    expect(await statusOf(over)).toBe('expired')
    expect(over.ms).toBeLessThan(10_000)
  })

  it('answers after the wait, still pending', async () => {
    const over = await wait(await open(api), 1)

    expect(await statusOf(over)).toBe('pending')
    expect(over.ms).toBeGreaterThan(900)
  })

  it('returns immediately for a request that is not pending', async () => {
    const id = await open(api)
    await vote(id, 'alice', 'reject')

    expect((await wait(id, 55)).ms).toBeLessThan(5_000)
  })

  it('is refused in the end if its key has ended meanwhile', async () => {
    const id = await open(api)
    const key = await api.remit.key(api.org.id, 'ingest')
    const waiting = wait(id, 30, key)

    await endKey(api.remit.writer, api.org.id, `key_${key.slice(4, 20)}`)
    await vote(id, 'alice', 'reject')

    expect((await refusalOf((await waiting).response)).code).toBe('unauthorized')
  })
})
