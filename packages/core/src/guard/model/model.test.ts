import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { normalize } from '../normalize.ts'
import { shippedModel, WEIGHTS } from '../shipped-model.ts'
import { Lexicon, foldLexicon } from './lexicon.ts'
import { shareOf, bestStretch } from './model.ts'
import { Tokens } from './tokens.ts'
import { readWeights } from './weights.ts'

describe('the stretch that is judged', () => {
  it('is the best of all of 12, 24, 48 and 96 tokens, or a short text as a whole', () => {
    const weights = fc.array(fc.integer({ min: -127, max: 127 }), { minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(weights, (each) => {
        const count = each.length
        const sums = Float64Array.from([0, ...each.map((_, i) => total(each.slice(0, i + 1)))])
        const ends = Uint32Array.from({ length: count + 1 }, (_, i) => i * 3)
        const lengths = count > 14 ? [12, 24, 48, 96].filter((length) => length < count) : []
        const starts = (length: number) =>
          Array.from({ length: Math.ceil((count - length) / (length / 2)) + 1 }, (_, i) => ({
            start: (i * length) / 2,
            end: Math.min(count, (i * length) / 2 + length),
          }))
        const tried = [
          ...lengths.flatMap(starts),
          ...(count <= 256 ? [{ start: 0, end: count }] : []),
        ]
        const scores = tried.map(
          ({ start, end }) => total(each.slice(start, end)) / Math.sqrt((end - start) * 3 + 100),
        )

        expect(bestStretch(sums, ends, count).score).toBeCloseTo(Math.max(...scores), 9)
      }),
    )
  })

  it('of a document is a sentence, or two in a row, where that is better than any of these', () => {
    const each = Array.from({ length: 60 }, (_, i) => (i >= 15 && i < 22 ? 50 : -50))
    const sums = Float64Array.from([0, ...each.map((_, i) => total(each.slice(0, i + 1)))])
    const ends = Uint32Array.from({ length: 61 }, (_, i) => i * 3)
    const stretch = (...sentences: number[]) => {
      const { start, end } = bestStretch(sums, ends, 60, 60, Int32Array.from(sentences))
      return [start, end]
    }

    expect(stretch(0, 15, 22, 40)).toEqual([15, 22])
    expect(stretch(0, 15, 18, 22)).toEqual([15, 22])
    expect(stretch()).toEqual([12, 24])
    // A sentence that begins after the part belongs to the next part.
    expect(bestStretch(sums, ends, 60, 15, Int32Array.from([0, 15, 22])).start).not.toBe(15)
  })

  it('knows where lines and sentences of a text begin', () => {
    const tokens = new Tokens(100)
    const text = normalize('Run it. Then v1.2 stops!\nAll: see (why? no)\n\nEnd').view.text
    tokens.read(text, 0)

    const begins = [...tokens.sentences].map((i) => /^\w*/.exec(text.slice(tokens.starts[i]))?.[0])
    expect(begins).toEqual(['run', 'then', 'all', 'see', 'no', 'end'])
    tokens.read(text, text.indexOf('then'))
    expect([...tokens.sentences][0]).toBe(0)
  })
})

const total = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0)

describe('a score', () => {
  it('is 0.5 where texts are flagged, 0.8 where they are blocked, never certain', () => {
    const cuts = { flag: -0.6, block: 0.2 }

    expect(shareOf(-0.6, cuts)).toBe(0.5)
    expect(shareOf(0.2, cuts)).toBe(0.8)
    expect(shareOf(1e6, cuts)).toBeLessThan(1)
    expect(shareOf(-1e6, cuts)).toBe(0)
  })

  it('has cuts for each source, and those for blocking lie higher', () => {
    const { cuts, calibration } = readWeights(WEIGHTS).header

    for (const { flag, block } of Object.values(cuts)) expect(block).toBeGreaterThan(flag)
    expect(calibration.map(({ from }) => from)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(tenth))
  })

  it('tells how often it was right: of the texts beyond 0.8, nine in ten were attacks', () => {
    const { calibration } = readWeights(WEIGHTS).header
    const blocked = calibration.filter(({ from }) => from >= 0.8)
    const low = calibration.filter(({ from }) => from < 0.2)
    const share = (bins: typeof calibration) =>
      total(bins.map(({ attacks }) => attacks)) / total(bins.map(({ texts }) => texts))

    expect(share(blocked)).toBeGreaterThan(0.9)
    expect(share(low)).toBeLessThan(0.2)
  })
})

const tenth = (n: number): number => n / 10

describe('the lexicon', () => {
  const lexicon = new Lexicon(foldLexicon('cast-aside: ignore ignorier* 忽略\nall: all alle*'))
  const conceptsOf = (text: string) => {
    const { view } = normalize(text)
    const tokens = new Tokens(100)
    tokens.read(view.text, 0)
    return Array.from({ length: tokens.count }, (_, i) => {
      const start = tokens.starts[i] ?? 0
      const found =
        tokens.kinds[i] === 2
          ? lexicon.ofPart(view.text, start)
          : lexicon.ofWord(view.text, start, tokens.ends[i] ?? 0, tokens.hashes[i] ?? 0)
      return found.map((concept) => lexicon.names[concept - 1])
    }).flat()
  }

  it('names what words of several languages stand for, whole, as beginnings and in running text', () => {
    expect(conceptsOf('Ignore ALL')).toEqual(['cast-aside', 'all'])
    expect(conceptsOf('Ignoriere alles')).toEqual(['cast-aside', 'all'])
    expect(conceptsOf('请忽略它')).toEqual(['cast-aside'])
    expect(conceptsOf('ignorance is bliss')).toEqual([])
  })
})

// Said by the guard, or by zlib if it comes so far.
const BROKEN = /digest|invalid|incorrect|unexpected end/

describe('damaged weights', () => {
  const folder = mkdtempSync(join(tmpdir(), 'remit-weights-'))
  const file = readFileSync(WEIGHTS)
  const written = (bytes: Uint8Array) => {
    const path = join(folder, 'guard.bin')
    writeFileSync(path, bytes)
    return () => readWeights(pathToFileURL(path))
  }

  it('are not read', () => {
    const damaged = Buffer.from(file)
    damaged.writeUInt8(damaged.readUInt8(file.length - 100_000) ^ 1, file.length - 100_000)

    expect(written(file)().digest).toBe(readWeights(WEIGHTS).digest)
    expect(written(damaged)).toThrow(BROKEN)
    expect(written(file.subarray(0, 100_000))).toThrow(BROKEN)
    expect(written(Buffer.from('something else\n'))).toThrow('not in their format')
    rmSync(folder, { recursive: true })
  })
})

it('gives an answer its digest: other rules or weights, another name', () => {
  expect(shippedModel().identity).toMatchObject({
    id: 'remit-guard',
    corpus_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
  })
})
