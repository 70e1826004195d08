import { ScorerInfo } from '@remit/contract'
import { expect, it } from 'vitest'
import { builtInScorers, describeScorer } from './catalogue.ts'

it('names every scorer of the open part, each with its default threshold', () => {
  expect(Object.fromEntries(builtInScorers.map((one) => [one.name, one.defaultThreshold]))).toEqual(
    {
      bleu: 0.5,
      chrf: 0.5,
      citation_check: 1,
      contains: 1,
      contains_all: 1,
      contains_any: 1,
      cost: 1,
      embedding_similarity: 0.5,
      exact_match: 1,
      jaro_winkler: 0.5,
      json_diff: 0.5,
      json_schema: 1,
      json_valid: 1,
      latency: 1,
      length_range: 1,
      levenshtein: 0.5,
      list_contains: 0.5,
      numeric_diff: 0.5,
      pii_leak: 1,
      prompt_leak: 1,
      refusal: 1,
      regex_match: 1,
      rouge_1: 0.5,
      rouge_2: 0.5,
      rouge_l: 0.5,
      token_f1: 0.5,
      tool_call_f1: 0.5,
      tool_call_match: 1,
      trajectory_match: 1,
    },
  )
})

it('describes the params of each as a strict JSON Schema with negate', () => {
  for (const scorer of builtInScorers) {
    const info = ScorerInfo.parse(describeScorer(scorer))
    expect(info.params).toMatchObject({
      type: 'object',
      additionalProperties: false,
      properties: { negate: { type: 'boolean' } },
    })
    expect(info.edition).toBe('community')
    expect(info.fields.length).toBeGreaterThan(0)
  }
})
