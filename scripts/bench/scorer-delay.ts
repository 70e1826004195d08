import { createTestRemit } from '@remit/testing'
import { delayOf } from './delay.ts'
import type { Result } from './report.ts'
import { sentence } from './scorer-texts.ts'

const many = (count: number, result: object) => Array.from({ length: count }, () => result)
const long = sentence(20_000, 1).slice(0, 99_000)
const deep = '['.repeat(49_000) + ']'.repeat(49_000)

const BODIES: Readonly<Record<string, object>> = {
  'patterns made to backtrack': {
    scorer: 'regex_match',
    params: { pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' },
    results: many(5, { output: 'a'.repeat(99_999) }),
  },
  'texts of 100,000 characters': {
    scorer: 'rouge_l',
    results: many(3, { output: long, expected: `${long.slice(9)} so` }),
  },
  'deep JSON': { scorer: 'json_diff', results: many(5, { output: deep, expected: deep }) },
  '1,000 results': {
    scorer: 'levenshtein',
    results: many(1_000, { output: long.slice(0, 2_000), expected: long.slice(3, 2_003) }),
  },
}

/** Measures how long other requests wait while deliberately slow ones are scored. */
export async function delaySuite(): Promise<Result[]> {
  const remit = await createTestRemit()
  const { key } = await remit.organization('free')
  const results: Result[] = []
  for (const [name, body] of Object.entries(BODIES)) {
    const ask = async () => {
      const answer = await remit.call('POST', '/v1/scorers', { key, body })
      await answer.text()
    }
    results.push(await delayOf(name, ask))
  }
  await remit.close()
  return results
}
