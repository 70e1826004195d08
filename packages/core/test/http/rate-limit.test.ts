import { setImmediate } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createTestRemit } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { problemOf, standIn } from './support.ts'

describe('429', () => {
  let remit: TestRemit
  afterEach(async () => {
    vi.useRealTimers()
    await remit.close()
  })

  const burst = (key: string, count: number, method = 'GET', path = '/v1/scorers') =>
    Promise.all(Array.from({ length: count }, () => remit.call(method, path, { key })))

  it('refuses what is above the limit of a key, with the time to wait', async () => {
    remit = await createTestRemit({ rateLimit: 5 })
    const { key } = await remit.organization()

    const answers = await burst(key, 8)

    const statuses = answers.map((answer) => answer.status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(3)
    const refused = answers.find((answer) => answer.status === 429)!
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('ratelimit')).toBe('"key";r=0;t=1')
    expect(refused.headers.get('ratelimit-policy')).toBe('"key";q=5;w=1')
    expect((await problemOf(refused)).code).toBe('rate_limited')
  })

  it('comes after a pause, so that repeating at once gains nothing', async () => {
    remit = await createTestRemit({ rateLimit: 1 })
    const { key } = await remit.organization()
    // Its clock stands still: on a busy machine, the second would be over.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    await burst(key, 1)
    let answered = false
    const refused = burst(key, 1).then(([answer]) => {
      answered = true
      return answer
    })
    for (let turn = 0; turn < 100; turn++) await setImmediate()
    const early = answered
    await vi.advanceTimersByTimeAsync(200)

    expect(early).toBe(false)
    expect((await refused)?.status).toBe(429)
  })

  it('shows on a success how much is left', async () => {
    remit = await createTestRemit({ rateLimit: 5 })
    const { key } = await remit.organization()

    const [answer] = await burst(key, 1)

    expect(answer?.headers.get('ratelimit')).toBe('"key";r=4;t=1')
  })

  it('does not count against another key of the same organization', async () => {
    remit = await createTestRemit({ rateLimit: 1 })
    const { id, key } = await remit.organization()
    const second = await remit.key(id, 'ingest')

    const statuses = [...(await burst(key, 2)), ...(await burst(second, 1))].map(
      ({ status }) => status,
    )

    expect(statuses).toEqual([200, 429, 200])
  })

  it('counts what is refused afterwards, but no request without a key', async () => {
    remit = await createTestRemit({ rateLimit: 2, modules: [standIn] })
    const { key } = await remit.organization('free')
    await burst('none', 5, 'POST', '/v1/authorize')

    const statuses = (await burst(key, 3, 'POST', '/v1/authorize')).map(({ status }) => status)

    expect(statuses).toEqual([403, 403, 429])
  })

  it('counts also who is known from the request before', async () => {
    remit = await createTestRemit({ rateLimit: 2, modules: [standIn] })
    const { key } = await remit.organization('free')

    const statuses: number[] = []
    for (let i = 0; i < 3; i++)
      statuses.push(...(await burst(key, 1, 'POST', '/v1/authorize')).map(({ status }) => status))

    expect(statuses).toEqual([403, 403, 429])
  })

  it('is off with 0', async () => {
    remit = await createTestRemit({ rateLimit: 0 })
    const { key } = await remit.organization()

    const answers = await burst(key, 50)

    expect(
      answers.every((answer) => answer.status === 200 && !answer.headers.has('ratelimit')),
    ).toBe(true)
  })
})
