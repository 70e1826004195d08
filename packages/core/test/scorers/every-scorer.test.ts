import { ResultToScore as ResultSchema } from '@remit/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtInScorers } from '../../src/scorers/catalogue.ts'
import { entry, examples, score } from './support.ts'
import type { Params } from './support.ts'

/** Params without which a scorer refuses the request. */
const NEEDED: Readonly<Record<string, Params>> = {
  regex_match: { pattern: 'a' },
  length_range: { min: 1 },
  json_schema: { schema: { type: 'object' } },
  latency: { max_ms: 1 },
  cost: { max_usd: 1 },
  prompt_leak: { prompt: 'a b c' },
}

describe('every scorer', () => {
  it.each(examples)('gives the reference value: $id', async (example) => {
    const found = await entry(example.scorer, ResultSchema.parse(example.result), example.params)

    const distance = Math.abs((found.score ?? -1) - (example.expected_score ?? -1))
    expect(distance).toBeLessThan(1e-6)
    expect(found.error?.code).toBe(example.expected_error)
  })

  it('takes whatever a result may hold without failing', async () => {
    const json = fc.jsonValue()
    const list = fc.option(fc.array(json))
    const number = fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }))
    const vector = fc.option(fc.array(fc.double({ noNaN: true, noDefaultInfinity: true })))
    const result = fc.record(
      {
        input: json,
        output: json,
        expected: json,
        context: list,
        tool_calls: list,
        expected_tool_calls: list,
        trajectory: list,
        expected_trajectory: list,
        output_embedding: vector,
        expected_embedding: vector,
        latency_ms: number,
        cost_usd: number,
        metadata: fc.record({ system_prompt: json }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(result, async (given) => {
        for (const { name } of builtInScorers) {
          const found = await score(name, given, NEEDED[name])
          expect(found === null || (found >= 0 && found <= 1)).toBe(true)
        }
      }),
    )
  })

  it('gives an output equal to what is expected a full score', async () => {
    const graded = ['levenshtein', 'jaro_winkler', 'token_f1', 'chrf', 'json_diff', 'exact_match']
    const word = fc.stringMatching(/^[a-z]{2,9}$/)
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 1 }), async (words) => {
        const output = `start ${words.join(' ')}`
        for (const name of [...graded, 'rouge_1', 'rouge_2', 'rouge_l', 'bleu'])
          expect(await score(name, { output, expected: output }), name).toBeCloseTo(1, 12)
      }),
    )
  })
})
