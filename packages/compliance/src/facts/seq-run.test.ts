import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SeqGatherer } from './seqs.ts'

const numbers = fc.array(fc.nat({ max: 500 }), { maxLength: 300 })
const inOrder = (seqs: readonly number[]) => [...new Set(seqs)].toSorted((a, b) => a - b)

const gathered = (seqs: readonly number[], after: number | null, most: number) => {
  const into = new SeqGatherer(after, most)
  for (const seq of seqs) into.add(seq)
  return into.run
}

describe('gathered sequence numbers', () => {
  it('are the lowest above a place, in order and each once, in whatever order they came', () => {
    fc.assert(
      fc.property(
        numbers,
        fc.nat({ max: 500 }),
        fc.integer({ min: 1, max: 40 }),
        (seqs, after, most) => {
          const above = inOrder(seqs).filter((seq) => seq > after)
          const run = gathered(seqs, after, most)

          expect([...run.seqs]).toEqual(above.slice(0, most))
          expect(run.isWhole).toBe(above.length <= most)
        },
      ),
    )
  })

  it('are all of them, part by part', () => {
    fc.assert(
      fc.property(numbers, fc.integer({ min: 1, max: 40 }), (seqs, most) => {
        const found: number[] = []
        for (let isWhole = false; !isWhole;) {
          const run = gathered(seqs, found.at(-1) ?? null, most)
          found.push(...run.seqs)
          ;({ isWhole } = run)
        }
        expect(found).toEqual(inOrder(seqs))
      }),
    )
  })
})
