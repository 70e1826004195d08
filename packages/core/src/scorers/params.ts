import { z } from 'zod'
import { fail } from '../base/errors.ts'
import { fieldErrors } from '../base/field-errors.ts'
import type { Scorer } from './scorer.ts'

/** The params of one request, ready to use. */
export interface RunParams {
  /** As the scorer's schema gives them. */
  readonly own: unknown
  /** The universal one: score = 1 − score. */
  readonly negate: boolean
}

const Negate = z.boolean().default(false).describe('score = 1 - score')

/** Checks the params of a request. Throws `invalid_params` naming every faulty one. */
export function parseParams(
  scorer: Scorer,
  params: Readonly<Record<string, unknown>> = {},
): RunParams {
  const { negate: givenNegate, ...given } = params
  const negate = Negate.safeParse(givenNegate)
  const own = scorer.params.safeParse(given)
  if (negate.success && own.success) return { own: own.data, negate: negate.data }
  const errors = [
    ...fieldErrors(negate.error?.issues ?? [], ['params', 'negate']),
    ...fieldErrors(own.error?.issues ?? [], ['params'], `is not a parameter of ${scorer.name}`),
  ]
  const detail = errors.map(({ path, message }) => `${path}: ${message}`).join('; ')
  throw fail('invalid_params', detail, { errors })
}

/** JSON Schema 2020-12 of what a request may send as `params`. */
export function paramsSchema(scorer: Scorer): Record<string, unknown> {
  const own = z.toJSONSchema(scorer.params, { io: 'input' })
  const { $schema: _, ...negate } = z.toJSONSchema(Negate, { io: 'input' })
  return { ...own, properties: { ...own.properties, negate } }
}
