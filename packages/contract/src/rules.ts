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

/** The mode of a rule that is enabled. */
export const RuleMode = z
  .enum(['enforce', 'observe'], 'must be enforce or observe')
  .default('enforce')
  .describe('`observe`: entries record what the rule would decide, and it decides nothing')
export type RuleMode = z.infer<typeof RuleMode>

/** For `.refine`: a rule that is not enabled is not observed either. */
export const modeIsOfEnabled = (rule: {
  readonly enabled: boolean
  readonly mode: RuleMode
}): boolean => rule.enabled || rule.mode === 'enforce'

/** The second argument of `.refine` for `modeIsOfEnabled`. */
export const MODE_FAULT = {
  path: ['mode'],
  message: 'must be enforce, or omitted, for a rule that is not enabled',
}

/** A rule in the mode `observe` that matched, and the decision that it would have made. */
export const ObservedRule = z.object({
  kind: z.enum(['policy', 'approval_rule']),
  id: z.string(),
  revision: z.int().optional().describe('of a policy'),
  would: z
    .enum(['allow', 'deny', 'needs_approval', 'error'])
    .describe('`error`: the condition fails, which denies or requires an approval when enforced'),
})
export type ObservedRule = z.infer<typeof ObservedRule>

/** Members of an entry and of a dry-run; absent if no observed rule matched. */
export const observations = {
  observed: z
    .array(ObservedRule)
    .optional()
    .describe('rules in the mode `observe` that match, and what they would have decided'),
  observed_incomplete: z
    .literal(true)
    .optional()
    .describe(
      'more than 20 observed rules match, or evaluating them took more than 2 ms or failed',
    ),
}

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
