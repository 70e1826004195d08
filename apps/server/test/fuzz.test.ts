import { endpoints, PROBLEMS } from '@remit/contract'
import type { Problem } from '@remit/contract'
import { createTestRemit, fullDialects, isDocumented, runs } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, loadModules } from '../src/boot/modules.ts'
import { wildRequests } from './support/fuzz-requests.ts'
import type { WildRequest } from './support/fuzz-requests.ts'

/** URLs resolve `..` and `%2e%2e`, so that another endpoint may answer. */
const isElsewhere = (path: string): boolean =>
  new URL(path, 'http://remit.test').pathname.split('/').length !==
  path.split('?')[0]?.split('/').length

const seed = Number(process.env['REMIT_TEST_FUZZ_SEED'] ?? Date.now() % 2 ** 31)
const AT_ONCE = 40
const BOUND_MS = 60_000

describe.each(fullDialects())('requests of every kind on %s', (dialect) => {
  // Most refusals precede the database, so one database is enough for them.
  const wrongAtLeast = runs(dialect === 'sqlite' ? 10_000 : 2_500)
  let remit: TestRemit
  let key: string
  beforeAll(async () => {
    remit = await createTestRemit({
      dialect,
      ...(hasModules() && { modules: await loadModules() }),
    })
    ;({ key } = await remit.organization())
  })
  afterAll(() => remit.close())

  it(
    'are answered as the contract says or refused with a problem document',
    { timeout: 900_000 },
    async () => {
      process.stderr.write(`fuzz: REMIT_TEST_FUZZ_SEED=${seed}\n`)
      const faults: string[] = []
      let refused = 0
      for (let round = 0; refused < wrongAtLeast && faults.length === 0; round++) {
        const requests = fc.sample(wildRequests(key), { seed: seed + round, numRuns: runs(1_000) })
        for (let i = 0; i < requests.length; i += AT_ONCE) {
          const outcomes = await Promise.all(
            requests.slice(i, i + AT_ONCE).map((request) => check(request)),
          )
          refused += outcomes.filter((outcome) => outcome === 'refused').length
          faults.push(
            ...outcomes.filter((outcome) => outcome !== 'refused' && outcome !== 'answered'),
          )
        }
      }

      expect(faults).toEqual([])
      expect(refused).toBeGreaterThanOrEqual(wrongAtLeast)
    },
  )

  /** `answered`, `refused`, or what is wrong with the answer and the request that led to it. */
  async function check(request: WildRequest): Promise<string> {
    const { method, path, headers, body } = request
    const fault = (what: string) => `${what}: ${JSON.stringify(request).slice(0, 3_000)}`
    const bytes = typeof body === 'string' || body === null ? body : Uint8Array.from(body)
    const late = AbortSignal.timeout(BOUND_MS)
    const hanging = new Promise<null>((resolve) => {
      late.addEventListener('abort', () => resolve(null))
    })
    const response = await Promise.race([
      remit.app.request(path, { method, headers, ...(bytes !== null && { body: bytes }) }),
      hanging,
    ])
    if (!response) return fault(`no answer within ${BOUND_MS} ms`)
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      // A stream of events does not end by itself.
      await response.body?.cancel()
      return 'answered'
    }
    const text = await response.text()
    if (response.status < 400)
      return method === 'HEAD' || isElsewhere(path) || isAnswer(request, text)
        ? 'answered'
        : fault(`not an answer: ${text.slice(0, 500)}`)
    const wrong = wrongRefusal(response, request, text)
    return wrong === null ? 'refused' : fault(`${response.status}, ${wrong}: ${text.slice(0, 500)}`)
  }

  function wrongRefusal(
    response: Response,
    { method, path }: WildRequest,
    text: string,
  ): string | null {
    if (response.status >= 500) return 'the server failed'
    const type = response.headers.get('content-type')
    // OAuth clients read nothing else.
    const isOAuth = type === 'application/json' && OAUTH_PATHS.has(path.split('?')[0] ?? '')
    if (type !== 'application/problem+json' && !isOAuth) return 'no problem document'
    if (method === 'HEAD') return null
    const problem = JSON.parse(text) as Problem
    if (PROBLEMS[problem.code]?.[0] !== response.status) return 'a code of another status'
    const names = isElsewhere(path) ? [] : endpointsAt({ method, path })
    if (
      names.length > 0 &&
      !names.some((name) => isDocumented(name, response.status, problem.code))
    )
      return `a refusal that the OpenAPI document does not list for ${names.join()}`
    if (problem.request_id !== response.headers.get('x-request-id')) return 'another request id'
    if (text.includes(key)) return 'it tells the key'
    return text.length > 100_000 ? 'far too long' : null
  }
})

const OAUTH_PATHS: ReadonlySet<string> = new Set(
  Object.values(endpoints).flatMap(({ form, path }) => (form ? [path] : [])),
)

/** Returns whether a success has the shape that the contract defines for its endpoint. */
function isAnswer(request: WildRequest, text: string): boolean {
  return endpointsAt(request).some((name) => {
    const { ok, produces } = endpoints[name]!
    return text === '' || produces !== undefined || ok.safeParse(JSON.parse(text)).success
  })
}

/** The names of the endpoints that a request may reach. */
function endpointsAt({ method, path }: Pick<WildRequest, 'method' | 'path'>): string[] {
  const [pathname = ''] = path.split('?')
  return Object.entries(endpoints)
    .filter(
      ([, endpoint]) =>
        endpoint.method === method &&
        new RegExp(`^${endpoint.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
    )
    .map(([name]) => name)
}
