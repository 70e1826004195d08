import { z } from 'zod'
import { fail } from '../base/errors.ts'
import { fieldErrors } from '../base/field-errors.ts'
import { FOR_FIELD_ERRORS } from '../base/issue-text.ts'
import type { Scorer } from './scorer.ts'

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
