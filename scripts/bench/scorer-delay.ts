import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createTestRemit } from '@remit/core/testing'
import type { Result } from './report.ts'
import { sentence } from './scorer-texts.ts'

const MOST_MS = 50
// What the histogram takes for no delay at all.
const RESOLUTION_MS = 5

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

/** How long everyone else waits while requests made to be slow are scored. */
export async function delaySuite(): Promise<Result[]> {
  const remit = await createTestRemit()
  const { key } = await remit.organization('free')
  const results: Result[] = []
  for (const [name, body] of Object.entries(BODIES)) {
    const ask = async () => {
      const answer = await remit.call('POST', '/v1/scorers', { key, body })
      await answer.text()
    }
    await ask()
    const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
    delay.enable()
    const started = performance.now()
    await ask()
    const took = performance.now() - started
    delay.disable()
    results.push({
      name: `event loop held, ${name}`,
      value: Math.max(0, delay.max / 1e6 - RESOLUTION_MS),
      unit: ' ms',
      goal: { below: MOST_MS },
      detail: `${Math.round(took)} ms a request`,
    })
  }
  await remit.close()
  return results
}
