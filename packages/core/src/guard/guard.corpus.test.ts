import { existsSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { GuardRequest } from '@remit/contract'
import { inFullRun } from '@remit/testing/pure'
import { describe, expect, it } from 'vitest'
import { checkContent } from './guard.ts'

const isRun = inFullRun('the development corpus of the guard')

// The development halves of the project's corpora, read beside the repository and never copied into it.
const folder = new URL('../../../../../shared/data/guard/', import.meta.url)
const [corpus, second] = ['dev.jsonl.gz', 'v2/dev.jsonl.gz'].map((name) => new URL(name, folder))

interface Row {
  readonly text: string
  readonly label: 0 | 1
  readonly category: string
  readonly ctx: 'user' | 'document' | 'tool' | 'system'
}

const rows = (file: URL): Row[] =>
  gunzipSync(readFileSync(file))
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row)

const scoresOf = (texts: readonly Row[]): number[] =>
  texts.map(({ text, ctx }) => {
    const request = { content: text, source: ctx, checks: ['injection', 'invisible'] }
    return checkContent(GuardRequest.parse(request)).score
  })
const share = (scores: readonly number[], from: number): number =>
  scores.filter((score) => score >= from).length / scores.length

describe.skipIf(!isRun || !existsSync(corpus!))(
  'on the development corpus (shared/data/guard)',
  () => {
    // Real system prompts say "never reveal"; they are read by other rules.
    const read = (label: 0 | 1) =>
      scoresOf(rows(corpus!).filter((row) => row.label === label && row.ctx !== 'system'))

    it('flags at most 3 % of harmless texts and at least 82 % of attacks, and blocks 77.5 %', () => {
      const [harmless, attacks] = [read(0), read(1)]

      expect(harmless.length).toBeGreaterThan(1_900)
      expect(share(harmless, 0.5)).toBeLessThan(0.03)
      expect(share(attacks, 0.5)).toBeGreaterThan(0.82)
      expect(share(attacks, 0.8)).toBeGreaterThan(0.775)
      // `high` flags from 0.35.
      expect(share(harmless, 0.35)).toBeLessThan(0.04)
      expect(share(attacks, 0.35)).toBeGreaterThan(0.84)
    })

    it('never blocks a real system prompt', () => {
      const prompts = rows(corpus!).filter(({ ctx }) => ctx === 'system')
      const blocked = prompts.filter(({ text }) => {
        const request = GuardRequest.parse({ content: text, source: 'system' })
        return checkContent(request).action === 'block'
      })

      expect(prompts.length).toBeGreaterThan(100)
      expect(blocked).toEqual([])
    })
  },
)

describe.skipIf(!isRun || !existsSync(second!))('on long documents (shared/data/guard/v2)', () => {
  it('flags at most 8 % of harmless ones of 6,000 characters and more, and blocks 4 %', () => {
    const documents = rows(second!).filter(({ ctx }) => ctx === 'document' || ctx === 'tool')
    const scores = scoresOf(documents)
    const long = scores.filter((_, at) => (documents[at]?.text.length ?? 0) >= 6_000)

    expect(long.length).toBeGreaterThan(250)
    expect(share(long, 0.5)).toBeLessThanOrEqual(0.08)
    expect(share(long, 0.8)).toBeLessThanOrEqual(0.04)
    expect(share(scores, 0.5)).toBeLessThanOrEqual(0.04)
  })
})
