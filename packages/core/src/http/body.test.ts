import { authorize, dryRun, scorers } from '@remit/contract'
import type { Endpoint } from '@remit/contract'
import { Hono } from 'hono'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { Route } from './endpoint.ts'
import { ComputePool } from '../threads/pool.ts'
import type { Computer } from '../threads/pool.ts'
import { Bodies } from './body.ts'
import { RequestTurns } from './limits.ts'
import { problemResponse } from './problem.ts'

const pool = new ComputePool(2)
afterAll(() => pool.close())

/** The owners of the jobs that the workers were given; held back while `gate` is closed. */
let jobs: string[] = []
let gate: Promise<void> = Promise.resolve()
const watched: Computer = {
  async run(owner, job, input, limitMs) {
    jobs.push(owner)
    await gate
    return pool.run(owner, job, input, limitMs)
  },
  close: () => pool.close(),
}
afterEach(() => {
  jobs = []
  gate = Promise.resolve()
})

const routeOf = (name: string, endpoint: Endpoint): Route => ({
  name,
  endpoint,
  handle: () => Promise.resolve({}),
})
const scoring = routeOf('runScorer', scorers.runScorer)
const deciding = routeOf('authorize', authorize.authorize)

/** Reads a body for an organization, and answers with what was read. */
function reader(bodies = new Bodies(watched, new RequestTurns())) {
  return (route: Route, text: string, owner = 'a', headers: Record<string, string> = {}) =>
    new Hono()
      .onError((error) => problemResponse(error, 'id'))
      .post('/', async (c) => c.json((await bodies.read(route, c, owner)).value as object))
      .request('/', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: text,
      })
}

const requestOf = (results: readonly object[]) =>
  JSON.stringify({ scorer: 'exact_match', params: { ignore_case: true }, results })
const large = requestOf(
  Array.from({ length: 500 }, (_, i) => ({
    id: `${i}`,
    output: { 'x\n': [i, -i / 8, 'ä\\'], 'x\\': null, __proto__: 1, text: 'x'.repeat(200) },
  })),
)

describe('a large body', () => {
  it('is read by a worker, and is what a small one would be', async () => {
    const response = await reader()(scoring, large)

    expect(await response.json()).toEqual(JSON.parse(large))
    expect(jobs).toEqual(['a'])
  })

  it('is refused as a small one would be', async () => {
    const padding = ' '.repeat(100_000)
    const read = reader()
    const faulty = ['{"a":1,"a":2}', '{"scorer":"x"}', '[]', '{"scorer":', '{"results":[1,{}]}']
    for (const text of faulty) {
      const [small, big] = await Promise.all([read(scoring, text), read(scoring, text + padding)])

      expect(await big.json()).toEqual(await small.json())
    }
    expect(jobs).toHaveLength(faulty.length)
  })

  it('names fifty faults, and counts the others', async () => {
    const many = await reader()(
      scoring,
      requestOf(Array.from({ length: 999 }, () => ({ id: 1, input: 'x'.repeat(99) }))),
    )

    expect(await many.json()).toMatchObject({
      code: 'invalid_request',
      errors: { length: 50 },
      errors_omitted: 949,
    })
  })

  it('is one of few that an organization has in flight; one too many is 429', async () => {
    const opened = Promise.withResolvers<void>()
    gate = opened.promise
    const read = reader()
    const own = Array.from({ length: 4 + 64 }, () => read(scoring, large))
    const declared = { 'content-length': String(large.length) }
    const refused = [await read(scoring, large), await read(scoring, large, 'a', declared)]
    const other = read(scoring, large, 'b')
    while (jobs.length < 5) await new Promise((resolve) => setImmediate(resolve))

    for (const response of refused) {
      expect(await response.json()).toMatchObject({ code: 'jobs_busy', status: 429 })
      expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
    }
    expect(jobs).toEqual(['a', 'a', 'a', 'a', 'b'])
    expect((await reader()(deciding, '{"agent_id":"a","action":"b"}')).status).toBe(200)
    opened.resolve()
    expect((await other).status).toBe(200)
    for (const response of own) expect((await response).status).toBe(200)
  })
})

describe('a body of more names than a request needs', () => {
  const names = (count: number) =>
    Array.from({ length: count }, (_, i) => `"n\\u0061${i}":1`).join(',')

  it.each([
    ['names', deciding, `{${names(5_001)}}`],
    ['names, large', scoring, `{${names(5_001)}${' '.repeat(100_000)}}`],
    ['objects', deciding, `{"a":[${'{},'.repeat(60_000)}`],
    ['values', scoring, `{"a":[${'1,'.repeat(1_100_000)}`],
  ])('is refused with 413 before it is built: %s', async (_, route, text) => {
    const response = await reader()(route, text)

    expect(await response.json()).toMatchObject({ code: 'body_too_large', status: 413 })
  })

  it('may have the names of a thousand requests', async () => {
    const one = {
      agent_id: 'a',
      action: 'b',
      context: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`n${i}`, i])),
    }
    const trying = routeOf('dryRunPolicies', dryRun.dryRunPolicies)
    const response = await reader()(
      trying,
      JSON.stringify({ requests: Array.from({ length: 1_000 }, () => one) }),
    )

    expect(response.status).toBe(200)
  })
})
