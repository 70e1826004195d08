import { z } from 'zod'
import { Timestamp } from './primitives.ts'
import { isName } from './values.ts'

const MAX_PATTERNS = 50

const isPattern = (text: string): boolean => isName(text.replaceAll('*', 'x'))

/** A name in which `*` is any run of characters. */
export const Pattern = z
  .string()
  .refine(
    isPattern,
    'must be 1 to 256 characters in NFC, without invisible characters, blanks other than U+0020 or outer blanks; * is any run of characters',
  )
  .meta({ id: 'Pattern' })

/** Whom or what a rule is about. Left out it is everything; an empty list would be nobody or everybody. */
export const Patterns = z
  .array(Pattern)
  .min(1, 'must have at least one pattern; leave it out for everything')
  .max(MAX_PATTERNS)
  .default(['*'])

/** A CEL condition; what docs/conditions.md says of it is checked when it is compiled. */
export const ConditionText = z
  .string()
  .min(1, 'must be a CEL condition; leave it out for none')
  .max(2048)
  .describe('CEL: a condition that gives true or false')

export const Description = z.string().max(1000).nullable().default(null)

/** The window `[not_before, expires_at)` in which a rule counts; null is open. */
export const windowFields = {
  not_before: Timestamp.nullable().default(null),
  expires_at: Timestamp.nullable().default(null),
}

/** For `.refine`: a window that opens after it has closed is a mistake. */
export const windowIsOpen = ({
  not_before,
  expires_at,
}: {
  readonly not_before: string | null
  readonly expires_at: string | null
}): boolean =>
  not_before === null || expires_at === null || Date.parse(not_before) < Date.parse(expires_at)

/** The second argument of `.refine` beside `windowIsOpen`. */
export const WINDOW_FAULT = { path: ['expires_at'], message: 'must be after not_before' }
