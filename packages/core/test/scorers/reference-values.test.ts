import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { answerOf, score } from './support.ts'

interface Run {
  readonly params: Readonly<Record<string, unknown>>
  readonly scores: readonly number[]
  readonly corpus: number
}

/** Scores of sacrebleu and rapidfuzz for texts that are hard to tokenize and count. */
const reference = JSON.parse(
  readFileSync(new URL('reference-values.json', import.meta.url), 'utf8'),
) as {
  rows: { output: string; expected: string[] }[]
  bleu: Run[]
  chrf: Run[]
  levenshtein: number[]
  jaro_winkler: number[]
  pairs: [string, string, number, number][]
}

const runs = (['bleu', 'chrf'] as const).flatMap((name) =>
  reference[name].map((run) => [name, JSON.stringify(run.params), run] as const),
)

describe('reference values', () => {
  it.each(runs)('%s agrees with sacrebleu: %s', async (name, _, { params, scores, corpus }) => {
    const answer = await answerOf(name, reference.rows, params)

    for (const [at, { score: found }] of answer.scores.entries())
      expect(found, JSON.stringify(reference.rows[at])).toBeCloseTo(scores[at]!, 7)
    expect(answer.aggregate.corpus_score).toBeCloseTo(corpus, 7)
  })

  it.each(['levenshtein', 'jaro_winkler'] as const)('%s agrees with rapidfuzz', async (name) => {
    for (const [at, { output, expected }] of reference.rows.entries()) {
      const result = { output, expected: expected[0] }
      expect(await score(name, result), output).toBeCloseTo(reference[name][at]!, 7)
    }
    for (const [output, expected, jaro, edit] of reference.pairs) {
      const wanted = name === 'levenshtein' ? edit : jaro
      expect(await score(name, { output, expected }), `${output}|${expected}`).toBeCloseTo(
        wanted,
        7,
      )
    }
  })
})
