import { ScorersAnswer } from '@remit/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestRemit, sampled } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { longestTurn } from '../support/event-loop.ts'

// Reading and checking the body of such requests takes some of it.
const MOST_MS = 50

let remit: TestRemit
let key: string
beforeAll(async () => {
  remit = await createTestRemit()
  key = (await remit.organization('free')).key
})
afterAll(() => remit.close())

interface Body {
  readonly results: readonly object[]
}

async function ask(body: Body): Promise<ScorersAnswer> {
  const response = await remit.call('POST', '/v1/scorers', { key, body })
  expect(response.status).toBe(200)
  return ScorersAnswer.parse(await response.json())
}

const many = (count: number, result: object) => Array.from({ length: count }, () => result)
const words = (count: number) =>
  Array.from({ length: count }, (_, at) => `w${(at * 7919) % 5_003}`).join(' ')
const long = words(17_000).slice(0, 99_999)
const deep = '['.repeat(49_000) + ']'.repeat(49_000)
const list = (seed: number) =>
  Array.from({ length: 300 }, (_, at) => words(20) + ((at * seed) % 977))

const requests: [string, Body & Record<string, unknown>][] = [
  [
    'a pattern that makes others backtrack',
    {
      scorer: 'regex_match',
      params: { pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' },
      results: many(5, { output: 'a'.repeat(99_999) }),
    },
  ],
  [
    'a pattern that compiles to very much',
    {
      scorer: 'regex_match',
      params: { pattern: `(?:${'abc'.repeat(6)}){1000}` },
      results: [{ output: 'abc' }],
    },
  ],
  [
    'a pattern in a schema',
    {
      scorer: 'json_schema',
      params: { schema: { pattern: '^(a+)+$' } },
      results: [{ output: `"${'a'.repeat(90_000)}!"` }],
    },
  ],
  [
    'a large schema',
    {
      scorer: 'json_schema',
      params: {
        schema: {
          anyOf: Array.from({ length: 250 }, (_, at) => ({
            properties: { [`name${at}`]: { type: 'string', minLength: at } },
          })),
        },
      },
      results: [{ output: '{}' }],
    },
  ],
  ['deep JSON', { scorer: 'json_diff', results: many(3, { output: deep, expected: deep }) }],
  [
    'long lists to pair',
    { scorer: 'list_contains', results: [{ output: list(13), expected: list(31) }] },
  ],
  [
    'long texts, edit distance',
    {
      scorer: 'levenshtein',
      results: [{ output: 'a'.repeat(49_999), expected: 'ab'.repeat(24_999) }],
    },
  ],
  [
    'long texts, jaro_winkler',
    {
      scorer: 'jaro_winkler',
      results: [{ output: long.slice(0, 10_000), expected: long.slice(5_000, 15_000) }],
    },
  ],
  [
    'long texts, longest common sequence',
    { scorer: 'rouge_l', results: [{ output: long, expected: long.slice(1) }] },
  ],
  ['long texts, chrF', { scorer: 'chrf', results: [{ output: long, expected: long.slice(1) }] }],
  [
    'long texts, BLEU',
    { scorer: 'bleu', results: [{ output: long, expected: [long.slice(1), long.slice(5)] }] },
  ],
  ['long texts, F1', { scorer: 'token_f1', results: [{ output: long, expected: long.slice(1) }] }],
  [
    'long texts, equal but for case',
    {
      scorer: 'exact_match',
      params: {
        ignore_case: true,
        ignore_punctuation: true,
        ignore_whitespace: 'collapse',
        unicode_normalization: 'NFKC',
      },
      results: many(10, { output: long, expected: long.toUpperCase() }),
    },
  ],
  [
    'long texts, white space in the middle',
    {
      scorer: 'exact_match',
      params: { ignore_whitespace: 'trim' },
      results: [{ output: `a${' '.repeat(99_998)}b`, expected: 'a' }],
    },
  ],
  [
    'long texts, personal data',
    { scorer: 'pii_leak', results: many(5, { output: '4111 1111 +49 '.repeat(7_000) }) },
  ],
  [
    'long texts, a long prompt',
    { scorer: 'prompt_leak', params: { prompt: long }, results: [{ output: long }] },
  ],
  [
    '1,000 results of 200 characters',
    {
      scorer: 'levenshtein',
      results: many(1_000, { output: long.slice(0, 200), expected: long.slice(3, 203) }),
    },
  ],
  [
    '1,000 results of 2,000 characters',
    {
      scorer: 'levenshtein',
      results: many(1_000, { output: long.slice(0, 2_000), expected: long.slice(3, 2_003) }),
    },
  ],
]

describe('other requests go on beside', () => {
  it.each(sampled(requests))('%s', async (_, body) => {
    // The first time, functions are compiled and the workers start.
    const { aggregate } = await ask({ ...body, results: body.results.slice(0, 10) })
    const longest = await longestTurn(() => ask(body), MOST_MS)

    expect(aggregate.count).toBeGreaterThan(0)
    expect(longest).toBeLessThan(MOST_MS)
  })
})
