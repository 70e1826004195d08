/**
 * The guard without a server: it looks for prompt injections, secrets and personal data in texts.
 *
 * @module
 */
import { GuardRequest } from '@remit/contract/guard'
import type { GuardAnswer } from '@remit/contract/guard'
import type { z } from 'zod'
import { checkShape } from '../base/fields.ts'
import { checkContent as check } from '../guard/guard.ts'

export { Failure } from '../base/errors.ts'
export { checkAnywhere } from '../guard/check-job.ts'
export { checkContent as inspectContent } from '../guard/guard.ts'
export type { GuardAnswer }

/** A check as a caller writes it: fields with a default may be left out. */
export type GuardInput = z.input<typeof GuardRequest>

/**
 * Checks a text, or the messages of a conversation, as `POST /v1/guard` does. Pure: it has no clock,
 * no store and no network. Throws a `Failure` with the code `invalid_request` that names every
 * faulty field.
 *
 * @example
 * import { checkContent } from '@remit/core/guard'
 *
 * const { action, reasons } = checkContent({ content: page, source: 'document' })
 * if (action === 'block') throw new Error(reasons.join(', '))
 */
export const checkContent = (input: GuardInput): GuardAnswer =>
  check(checkShape(GuardRequest, input))
