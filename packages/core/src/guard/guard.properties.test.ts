import { GuardAnswer, GuardRequest } from '@remit/contract'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '@remit/testing/pure'
import { checkContent } from './guard.ts'
import { signatures } from './signatures.ts'

const pieces = fc.oneof(
  fc.constantFrom(...signatures.map(({ example }) => example)),
  fc.constantFrom('kim@mail.example', '4111 1111 1111 1111', 'DE89 3704 0044 0532 0130 00'),
  fc.constantFrom(
    ['AKIA', 'IOSFODNN7EXAMPLE'].join(''),
    '\u200b',
    '\u202e',
    '\u{e0041}\u{e0042}',
    'е',
    'ﷺ',
  ),
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.string(),
)
const texts = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(' '))
const requests = fc
  .record({
    content: texts,
    direction: fc.constantFrom('input', 'output'),
    source: fc.constantFrom('user', 'tool', 'document', 'system'),
    sensitivity: fc.constantFrom('low', 'balanced', 'high'),
    canaries: fc.array(fc.string({ unit: 'binary', minLength: 4, maxLength: 20 }), {
      maxLength: 2,
    }),
    allow: fc.array(fc.string({ minLength: 1, maxLength: 20 }), { maxLength: 2 }),
    explain: fc.boolean(),
  })
  .map((request) => GuardRequest.parse(request))

/** The findings of a text. Invisible characters between the letters must not change them. */
const laced = (text: string) => Array.from(text).join('\u2060')

it('answers any text, in the shape of the contract', () => {
  fc.assert(
    fc.property(requests, (request) => {
      const answer = checkContent(request)
      expect(GuardAnswer.parse(answer)).toEqual(answer)
      expect(answer.score).toBeGreaterThanOrEqual(0)
      expect(answer.score).toBeLessThanOrEqual(1)
      expect(request.source !== 'system' || answer.action !== 'block').toBe(true)
      expect(answer.action === 'allow' || answer.flagged).toBe(true)
    }),
    { numRuns: runs(300) },
  )
})

it('gives a finding for every verdict but a plain allow, and its place in the original', () => {
  fc.assert(
    fc.property(requests, (request) => {
      const { content = '' } = request
      const answer = checkContent(request)
      const misplaced = answer.findings.filter(
        ({ start, end, excerpt }) =>
          start >= end ||
          end > content.length ||
          content.slice(start, end).slice(0, 2_000) !== excerpt,
      )
      expect(misplaced).toEqual([])
      expect(answer.flagged).toBe(answer.reasons.length > 0)
      expect(!answer.flagged || answer.findings.length > 0).toBe(true)
    }),
    { numRuns: runs(300) },
  )
})

it('finds nothing more to redact in what it redacted', () => {
  fc.assert(
    fc.property(texts, (content) => {
      const checks = ['secrets', 'pii', 'invisible'] as const
      const first = checkContent(GuardRequest.parse({ content, checks }))
      const again = checkContent(GuardRequest.parse({ content: first.redacted ?? content, checks }))
      expect(again.action).toBe('allow')
    }),
    { numRuns: runs(300) },
  )
})

it('blocks or flags an attack just as much when invisible characters stand between its letters', () => {
  for (const { example, sources } of signatures) {
    const source = sources?.[0] ?? 'user'
    const ask = (content: string) =>
      checkContent(GuardRequest.parse({ content, source, checks: ['injection'] }))
    expect(ask(laced(example)).score).toBe(ask(example).score)
  }
})
