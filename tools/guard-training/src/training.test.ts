import { readFileSync } from 'node:fs'
import { isCompleteRun } from '@remit/testing/pure'
import { describe, expect, it } from 'vitest'
import { readWeights, signatureDigest, WEIGHTS, writeWeights } from '@remit/core/guard/internals'
import { GRAMMARS, readConcepts } from './digest.ts'
import { expandAll } from './grammar.ts'
import { trainHead } from './head.ts'
import { licenceOf } from './licences.ts'
import { plant } from './plant.ts'
import { inParts, train } from './train.ts'
import { wordClassesOf } from './wordnet.ts'

// The clean part of the corpus, by its README: our own, and under one of these.
const CLEAN =
  /^(?:own work, Apache-2.0|Apache-2.0|MIT|BSD-3-Clause|CC0-1.0|CC-BY-4.0|public domain)\b/

const { rows, digest } = expandAll(GRAMMARS, 1)

describe('the grammars', () => {
  it('make many different texts, in over 25 languages, none with a hole in it', () => {
    const attacks = rows.filter(({ label }) => label === 1)

    expect(rows.length).toBeGreaterThan(25_000)
    expect(attacks.length).toBeGreaterThan(12_000)
    expect(new Set(rows.map(({ lang }) => lang)).size).toBeGreaterThan(25)
    // JSON has brackets too, with quotes in them.
    expect(rows.filter(({ text }) => /\{[a-z-]+\}|\[[^\]"]*\|[^\]"]*\]/i.test(text))).toEqual([])
  })

  it('have harmless texts beside the attacks of every language', () => {
    const languages = (label: 0 | 1) =>
      new Set(rows.filter((row) => row.label === label).map(({ lang }) => lang))

    const harmless = languages(0)
    expect([...languages(1)].filter((lang) => !harmless.has(lang))).toEqual([])
  })

  // `train --check`, a step of complete runs, trains from all of them and compares the weights.
  it.runIf(isCompleteRun)('make the same texts from the same seed, and others from another', () => {
    expect(expandAll(GRAMMARS, 1).rows).toEqual(rows)
    expect(expandAll(GRAMMARS, 2).rows).not.toEqual(rows)
  })
})

describe('training', () => {
  it.runIf(isCompleteRun)('gives the same weights from the same texts and seed, to the bit', () => {
    const some = rows.filter((_, i) => i % 240 === 0)
    const once = train(some, readConcepts(), 1)

    expect(train(some, readConcepts(), 1)).toEqual(once)
    expect(train(some, readConcepts(), 2)).not.toEqual(once)
  })

  it('lets a wording count that never stands alone, because others are left out at times', () => {
    // Every attack has the features 1 to 4, half of them 5 as well; harmless texts have 6.
    const example = (ids: readonly number[], attack: boolean) => ({
      attack,
      ids: Uint32Array.from(ids),
      ends: Uint32Array.from([0, ids.length]),
      tokens: 1,
    })
    const examples = Array.from({ length: 400 }, (_, i) =>
      i % 2 === 0
        ? example([6], false)
        : example(i % 4 === 1 ? [1, 2, 3, 4] : [1, 2, 3, 4, 5], true),
    )
    const settings = { bits: 8, seed: 1, epochs: 5, rate: 0.5 }
    const [without, with25] = [0, 0.25].map((leftOut) => {
      const { weights } = trainHead(examples, { ...settings, leftOut })
      return (weights[5] ?? 0) / (weights[1] ?? 1)
    })

    expect(with25).toBeGreaterThan((without ?? 0) * 1.05)
  })

  it('learns a long harmless document part by part, and an attack as one text', () => {
    const long = {
      ...rows[0]!,
      label: 0,
      ctx: 'document',
      text: 'A line of ten words.\n'.repeat(400),
    } as const

    expect(
      inParts(long)
        .map(({ text }) => text)
        .join(''),
    ).toBe(long.text)
    expect(inParts(long).length).toBeGreaterThan(2)
    expect(inParts({ ...long, label: 1 })).toEqual([{ ...long, label: 1 }])
  })

  it('knows synonyms by their sense, and relatives by their kind', () => {
    const lines = wordClassesOf('ignore\ndisregard\ntable\nchair\nkrmplx').trim().split('\n')
    const of = (word: string) =>
      lines
        .find((line) => line.startsWith(`${word} `))
        ?.split(' ')
        .slice(1)

    expect(of('ignore')).toEqual(of('disregard'))
    expect(of('krmplx')).toBeUndefined()
    expect(lines.every((line) => /^[a-z]{3,18} \d+ \d+$/.test(line))).toBe(true)
  })

  it('shows harmless requests as attacks only inside documents', () => {
    const planted = plant(rows, 200, 1)

    expect(planted.every(({ ctx, label }) => label === 1 && ctx !== 'user')).toBe(true)
    expect(planted.filter(({ source }) => source.startsWith('planted-')).length).toBe(200)
  })

  it('takes no attack from others, and no source without a licence for it', () => {
    const row = { text: 'x', category: 'benign', ctx: 'user' } as const

    expect(licenceOf({ ...row, label: 1, source: 'neuralchemy' })).toBeNull()
    expect(licenceOf({ ...row, label: 0, source: 'neuralchemy' })).toBe('Apache-2.0')
    expect(licenceOf({ ...row, label: 0, source: 'somewhere else' })).toBeNull()
    expect(licenceOf({ ...row, label: 0, source: 'SpamAssassin-easy-ham-1' })).toBeNull()
    const stated = { ...row, source: 'somewhere else', licence: 'CC-BY-4.0' } as const
    expect(licenceOf({ ...stated, label: 0 })).toBe('CC-BY-4.0')
    expect(licenceOf({ ...stated, label: 0, licence: 'CC-BY-NC-4.0' })).toBeNull()
    expect(licenceOf({ ...stated, label: 1 })).toBeNull()
  })
})

describe('the shipped weights', () => {
  const weights = readWeights(WEIGHTS)

  it('were made from the grammars, concepts and signatures as they are', () => {
    expect(weights.header.digests.grammars).toBe(digest)
    expect(weights.header.digests.signatures).toBe(signatureDigest)
    expect(weights.concepts).toBe(readConcepts())
  })

  it('name the licence of every source, and nothing of the development corpus', () => {
    expect(weights.header.sources.length).toBeGreaterThan(20)
    expect(weights.header.sources.filter(({ licence }) => !CLEAN.test(licence))).toEqual([])
    const names = weights.header.digests.corpora.map(({ name }) => name)
    expect(names).toEqual(['train.jsonl.gz', 'train.jsonl.gz'])
    expect(weights.header.notices.join()).toContain('Princeton University')
  })

  it('fit in 1 MB with concepts, vocabulary and classes of words, and survive being written', () => {
    const file = readFileSync(WEIGHTS)
    const { digest: _, ...rest } = weights

    expect(file.length).toBeLessThanOrEqual(1_000_000)
    expect(writeWeights(rest).equals(file)).toBe(true)
  })
})
