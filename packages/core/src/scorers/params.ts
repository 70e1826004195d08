import { z } from 'zod'
import type { ResultToScore } from '@remit/contract'
import { canonicalJson } from '@remit/contract/json'
import { fail } from '../base/errors.ts'
import { fieldErrors, FOR_FIELD_ERRORS } from '../base/fields.ts'
import { Unscorable } from './scorer.ts'
import type { Scorer, FieldName, ScoreOutcome } from './scorer.ts'
import { countCodePoints } from './measure/edit-distance.ts'

/** The validated params of one request. */
export interface RunParams {
  /** As parsed by the schema of the scorer. */
  readonly own: unknown
  /** The common parameter: score = 1 − score. */
  readonly negate: boolean
}

const Negate = z.boolean().default(false).describe('score = 1 - score')

/** Validates the params of a request. Throws `invalid_params` that names every invalid one. */
export function parseParams(
  scorer: Scorer,
  params: Readonly<Record<string, unknown>> = {},
): RunParams {
  const { negate: givenNegate, ...given } = params
  const negate = Negate.safeParse(givenNegate, FOR_FIELD_ERRORS)
  const own = scorer.params.safeParse(given, FOR_FIELD_ERRORS)
  if (negate.success && own.success) return { own: own.data, negate: negate.data }
  const errors = [
    ...fieldErrors(negate.error?.issues ?? [], ['params', 'negate']),
    ...fieldErrors(own.error?.issues ?? [], ['params'], `is not a parameter of ${scorer.name}`),
  ]
  const detail = errors.map(({ path, message }) => `${path}: ${message}`).join('; ')
  throw fail('invalid_params', detail, { errors })
}

const schemas = new WeakMap<Scorer, Record<string, unknown>>()

/** Returns the JSON Schema 2020-12 of the `params` of a request. */
export function paramsSchema(scorer: Scorer): Record<string, unknown> {
  const schema = schemas.get(scorer) ?? makeSchema(scorer)
  schemas.set(scorer, schema)
  return schema
}

function makeSchema(scorer: Scorer): Record<string, unknown> {
  const own = z.toJSONSchema(scorer.params, { io: 'input' })
  const { $schema: _, ...negate } = z.toJSONSchema(Negate, { io: 'input' })
  return { ...own, properties: { ...own.properties, negate } }
}

const MAX_TEXT_LENGTH = 100_000

/** Throws `Unscorable` if a required field is missing, or a text is too long. */
export function checkFields(scorer: Scorer, result: ResultToScore): void {
  for (const [name, need] of Object.entries(scorer.fields) as [FieldName, string][]) {
    const value = result[name]
    const absent = need === 'present' ? value === undefined : value === undefined || value === null
    if (absent && need !== 'optional') {
      throw new Unscorable('missing_field', `${name} is missing`, name)
    }
  }
  const max = scorer.maxTextLength ?? MAX_TEXT_LENGTH
  if (scorer.fields.output) checkLength('output', result.output, max)
  if (!scorer.fields.expected) return
  const { expected } = result
  for (const item of Array.isArray(expected) ? (expected as unknown[]) : [expected]) {
    checkLength('expected', item, max)
  }
}

function checkLength(field: FieldName, value: unknown, max: number): void {
  const text = typeof value === 'object' && value !== null ? canonicalJson(value) : value
  if (typeof text === 'string') checkTextLength(field, text, max)
}

/** Throws `Unscorable` for a text of more than `max` code points. */
export function checkTextLength(field: FieldName, text: string, max: number): void {
  if (text.length <= max) return
  if (text.length > 2 * max || countCodePoints(text) > max) {
    throw new Unscorable('limit_exceeded', `${field} is longer than ${max} characters`, field)
  }
}

/**
 * Returns a field as text: strings unchanged, any other JSON value as canonical JSON (RFC 8785).
 */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : canonicalJson(value)

/**
 * Returns the alternatives that a text may equal: a list contains alternatives. If the output is
 * not text, a list is the value to compare with.
 */
export function alternativesOf({ output, expected }: ResultToScore): readonly unknown[] {
  if (!Array.isArray(expected) || typeof output !== 'string') return [expected]
  const alternatives = expected as unknown[]
  if (alternatives.length === 0 || alternatives.includes(null)) {
    throw new Unscorable('invalid_expected', 'expected is an empty list or holds null', 'expected')
  }
  return alternatives
}

/**
 * Returns the best outcome over the alternatives; the first of equal ones. Names it if there are
 * several.
 */
export function bestOf<T>(
  alternatives: readonly T[],
  score: (alternative: T) => ScoreOutcome,
): ScoreOutcome {
  let best: ScoreOutcome | undefined
  let chosen = 0
  for (const [index, alternative] of alternatives.entries()) {
    const outcome = score(alternative)
    if (best && outcome.score <= best.score) continue
    best = outcome
    chosen = index
    if (outcome.score >= 1) break
  }
  if (!best) throw new Error('bestOf needs at least one alternative')
  if (alternatives.length === 1) return best
  return { ...best, metadata: { ...best.metadata, alternative: chosen } }
}
