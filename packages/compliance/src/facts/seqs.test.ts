import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LowestSeqs, SeqSample } from './seqs.ts'

const distinct = fc.uniqueArray(fc.nat({ max: 10_000 }), { maxLength: 300 })
const ascending = (seqs: readonly number[]) => seqs.toSorted((a, b) => a - b)

describe('kept sequence numbers', () => {
  it('of a finding: the lowest fifty in order, and the count of all', () => {
    fc.assert(
      fc.property(distinct, (seqs) => {
        const list = new LowestSeqs()
        for (const seq of seqs) list.add(seq)

        expect(list.count).toBe(seqs.length)
        expect(list.seqs).toEqual(ascending(seqs).slice(0, 50))
      }),
    )
  })
})

describe('a sample', () => {
  const sampleOf = (count: number) => {
    const sample = new SeqSample()
    for (let seq = 0; seq < count; seq++) sample.add(seq)
    return sample
  }

  it.each([0, 1, 9, 10, 11, 20, 21, 25, 26, 40, 1000, 123_457])(
    'of %i has the ends, and at most five spread between them',
    (count) => {
      const { seqs, firstSeq, lastSeq, count: counted } = sampleOf(count)
      const all = Array.from({ length: count }, (_, i) => i)

      expect(counted).toBe(count)
      expect(seqs.length).toBe(Math.min(count, 25))
      expect(seqs).toEqual(ascending([...new Set(seqs)]))
      expect(seqs.slice(0, 10)).toEqual(all.slice(0, 10))
      expect(seqs.slice(-10)).toEqual(all.slice(-10))
      expect([firstSeq, lastSeq]).toEqual([all[0] ?? null, all.at(-1) ?? null])
    },
  )

  it('is spread over the whole', () => {
    const between = sampleOf(100_000).seqs.slice(10, 15)

    between.forEach((seq, i) => expect(Math.abs(seq - i * 20_000)).toBeLessThan(9000))
  })
})
