import { scorers } from '@remit/contract'
import type { ScorerInfo } from '@remit/contract'
import { describe, expect, it } from 'vitest'
import type { Caller } from '../caller/caller.ts'
import type { ApiRequest } from '../http/endpoint.ts'
import { contains, exactMatch, regexMatch } from './built-in/matches.ts'
import { scorerRoutes } from './routes.ts'

const contributed = { ...exactMatch, name: 'z_from_a_module', edition: 'enterprise' } as const
const routes = scorerRoutes([contributed, regexMatch, contains, exactMatch])

const caller: Caller = {
  orgId: 'demo',
  plan: 'free',
  principal: { type: 'key', id: 'key_1', role: 'ingest', person: null },
  configVersion: 0,
}
/** The scorers read nothing of it. */
const request = {} as ApiRequest

async function call(name: 'runScorer' | 'listScorers', body: unknown, query: object = {}) {
  const { endpoint, handle } = routes.find((route) => route.name === name)!
  const input = {
    params: {},
    query: endpoint.query?.parse(query) ?? {},
    body: endpoint.body?.parse(body),
  }
  return endpoint.ok.parse(await handle(input, caller, request))
}

describe('POST /v1/scorers', () => {
  it('scores with the scorer it names, also with one that a module brought', async () => {
    const results = [{ output: 'a', expected: 'a' }]

    for (const scorer of ['exact_match', 'z_from_a_module']) {
      const answer = await call('runScorer', { scorer, results })
      expect(answer).toMatchObject({ aggregate: { mean: 1 }, scores: [{ passed: true }] })
    }
  })

  it.each(['llm_as_judge', 'constructor', '__proto__'])(
    'answers 404 with the names there are for %s',
    async (scorer) => {
      await expect(call('runScorer', { scorer, results: [{}] })).rejects.toMatchObject({
        code: 'scorer_not_found',
        status: 404,
        extras: {
          extensions: { available: ['contains', 'exact_match', 'regex_match', 'z_from_a_module'] },
        },
      })
    },
  )

  it('takes 1 to 1,000 results and no unknown field', () => {
    const { body } = scorers.runScorer
    const ask = (results: unknown[]) => body.safeParse({ scorer: 'contains', results }).success

    expect(ask(Array.from({ length: 1000 }, () => ({})))).toBe(true)
    expect(ask(Array.from({ length: 1001 }, () => ({})))).toBe(false)
    expect(ask([])).toBe(false)
    expect(ask([{ outputs: 'a' }])).toBe(false)
    expect(ask([{ output: 'a\u0000\ud800\u202e', metadata: null, latency_ms: null }])).toBe(true)
  })
})

describe('GET /v1/scorers', () => {
  it('lists every scorer by name with its parameters as JSON Schema', async () => {
    const { data, next_cursor } = (await call('listScorers', undefined)) as {
      data: ScorerInfo[]
      next_cursor: string | null
    }

    expect(data.map(({ name }) => name)).toEqual([
      'contains',
      'exact_match',
      'regex_match',
      'z_from_a_module',
    ])
    expect(next_cursor).toBeNull()
    expect(data[2]).toMatchObject({
      edition: 'community',
      default_threshold: 1,
      fields: [{ name: 'output', required: true }],
      params: {
        type: 'object',
        additionalProperties: false,
        required: ['pattern'],
        properties: { pattern: { type: 'string', maxLength: 1000 }, negate: { type: 'boolean' } },
      },
    })
  })

  it('pages through them without leaving one out', async () => {
    const seen: string[] = []
    let cursor: string | null | undefined
    do {
      const answer = await call('listScorers', undefined, { limit: '3', ...(cursor && { cursor }) })
      const page = answer as { data: ScorerInfo[]; next_cursor: string | null }
      seen.push(...page.data.map(({ name }) => name))
      cursor = page.next_cursor
    } while (cursor)

    expect(seen).toEqual(['contains', 'exact_match', 'regex_match', 'z_from_a_module'])
  })
})
