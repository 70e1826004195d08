import { expect, it } from 'vitest'
import { bestOf } from './params.ts'

const scored = (alternatives: readonly number[]) =>
  bestOf(alternatives, (score) => ({ score, reason: `${score}`, metadata: { score } }))

it('takes the first of the best alternatives and names its place', () => {
  expect(scored([0.2, 0.7, 0.7, 0.1])).toEqual({
    score: 0.7,
    reason: '0.7',
    metadata: { score: 0.7, alternative: 1 },
  })
  expect(scored([0.2, 1, 1]).metadata).toEqual({ score: 1, alternative: 1 })
})

it('names no place where there is no choice', () => {
  expect(scored([0]).metadata).toEqual({ score: 0 })
})
