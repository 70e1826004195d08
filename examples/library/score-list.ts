/** Scores a list of answers of a model against the expected ones. */
import { scoreResults } from '@remit/core/scorers'

const { scores, aggregate } = await scoreResults({
  scorer: 'levenshtein',
  threshold: 0.8,
  results: [
    { id: 'capital', output: 'Paris', expected: 'Paris' },
    { id: 'river', output: 'the Seine', expected: 'The Loire' },
  ],
})

for (const { id, score, reason } of scores) console.log(`${id}: ${score} (${reason})`)
console.log(`pass rate: ${aggregate.pass_rate}`)
