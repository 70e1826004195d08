import { z } from 'zod'
import { Timestamp } from './primitives.ts'
import { isName } from './fit/values.ts'

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

/**
 * The agents, actions or resources of a rule. Omitted means all; an empty list would be ambiguous.
 */
export const Patterns = z
  .array(Pattern)
  .min(1, 'must have at least one pattern; * matches everything')
  .max(MAX_PATTERNS)
  .default(['*'])

/** A CEL condition; the rules of docs/conditions.md are checked at compilation. */
export const ConditionText = z
  .string()
  .min(1, 'must be a CEL condition; omit it for none')
  .max(2048)
  .describe('A CEL condition that evaluates to true or false')

export const Description = z.string().max(1000).nullable().default(null)

/** The validity window `[not_before, expires_at)` of a rule; null is open. */
export const windowFields = {
  not_before: Timestamp.nullable().default(null),
  expires_at: Timestamp.nullable().default(null),
}

/** For `.refine`: the start of a window must be before its end. */
export const windowIsOpen = ({
  not_before,
  expires_at,
}: {
  readonly not_before: string | null
  readonly expires_at: string | null
}): boolean =>
  not_before === null || expires_at === null || Date.parse(not_before) < Date.parse(expires_at)

/** The second argument of `.refine` for `windowIsOpen`. */
export const WINDOW_FAULT = { path: ['expires_at'], message: 'must be after not_before' }
