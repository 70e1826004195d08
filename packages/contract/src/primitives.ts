import { z } from 'zod'
import {
  fitsFreeForm,
  isAgentId,
  isName,
  isNameOrNone,
  isObject,
  isUnitAmount,
  isUsd,
} from './fit/values.ts'

/** An object of the API with its name in the OpenAPI document. */
export const component = <Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape) =>
  z.object(shape).meta({ id })

/** The same for input: an unknown member is an error. */
export const strictComponent = <Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape) =>
  z.strictObject(shape).meta({ id })

export const PLANS = ['open', 'team', 'enterprise'] as const
/** The lowest plan that includes an endpoint; `open` ones exist in every edition. */
export type Tier = (typeof PLANS)[number]

/** The plan of an organization. `free` includes only the open endpoints. */
export const Plan = z.enum(['free', 'team', 'enterprise']).meta({ id: 'Plan' })
export type Plan = z.infer<typeof Plan>

export const Role = z.enum(['admin', 'ingest', 'approver', 'read']).meta({ id: 'Role' })
export type Role = z.infer<typeof Role>

/** The scopes of agent credentials; matched exactly, no wildcards. */
export const SCOPES = [
  'approvals:read',
  'authorize',
  'guard',
  'ledger:append',
  'ledger:read',
  'ledger:settle',
  'scorers',
  'spend:read',
  'trust:check',
] as const
export const Scope = z.enum(SCOPES).meta({ id: 'Scope' })
export type Scope = z.infer<typeof Scope>

const NAME_RULE =
  '1 to 256 characters in NFC, without invisible characters, blanks other than U+0020, outer blanks or *'

/** The names of actions and the parts of a resource. */
export const Name = z.string().refine(isName, `must be ${NAME_RULE}`)
/** The id of an agent, in a body, a query and a path, where clients resolve `.` and `..` away. */
export const AgentId = z
  .string()
  .refine(isAgentId, `must be ${NAME_RULE}, not . or ..`)
  .meta({ id: 'AgentId' })
export const Action = Name.meta({ id: 'Action' })

/** Identifier of an object other than an agent in the path, chosen by the caller. */
export const PathId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/,
    'must be 1 to 128 of A-Z a-z 0-9 . _ : @ - and start with a letter or digit',
  )
  .meta({ id: 'PathId' })

const SHARE_RULE = 'must be a number from 0 to 1'
export const Share = z.number(SHARE_RULE).min(0, SHARE_RULE).max(1, SHARE_RULE)

/**
 * Free JSON facts: depth at most 32, at most 2,000 names, at most 64 KiB. Zod's own record would
 * drop a member `__proto__`, so the recorded context would differ from the one of the tool.
 */
export const FreeForm = z
  .unknown()
  .refine(isObject, { error: 'must be an object', abort: true })
  .refine(fitsFreeForm, 'must be at most 32 levels deep, 2,000 names and 64 KiB')
  .meta({
    id: 'FreeForm',
    type: 'object',
    additionalProperties: {},
  }) as unknown as z.ZodType<Record<string, unknown>, Record<string, unknown>>

/**
 * A map with names that the caller chooses. Zod's record would drop a member `__proto__`, and with it a label of a
 * selector: it is refused.
 */
export const mapOf = <V extends z.ZodType>(
  names: z.ZodType<string, string>,
  values: V,
): z.ZodType<Record<string, z.output<V>>, Record<string, z.input<V>>> =>
  z.preprocess(
    (given, context) => {
      if (isObject(given) && Object.hasOwn(given, '__proto__'))
        context.addIssue({ code: 'custom', message: 'must have no member named __proto__' })
      return given
    },
    z.record(names, values),
  ) as never

/** US dollars: 0 to 1e9 with at most 6 decimals; stored as integer micro-USD. */
export const Usd = z
  .number()
  .refine(isUsd, 'must be an amount in USD from 0 to 1000000000 with at most 6 decimals')
  .meta({ id: 'Usd' })

const UNIT = /^[a-z][a-z0-9_]{0,31}$/

/** The unit of a budget: `usd`, `calls`, `tokens`, or one of the organization. */
export const Unit = z
  .string()
  .regex(UNIT, 'must be usd, calls, tokens, or 1 to 32 of a-z 0-9 _ that start with a letter')
  .describe('`usd`, `calls` (1 for each allow), `tokens`, or a unit of your own')

const AMOUNTS_RULE =
  'must have at most 8 units other than usd and calls, each with an amount from 0 to 1000000000 with at most 6 decimals; tokens are a whole number'

/** Amounts in other units than US dollars and calls. */
export const Amounts = mapOf(z.string(), z.number())
  .refine(
    (amounts) =>
      Object.keys(amounts).length <= 8 &&
      Object.entries(amounts).every(
        ([unit, amount]) =>
          UNIT.test(unit) && unit !== 'usd' && unit !== 'calls' && isUnitAmount(unit, amount),
      ),
    AMOUNTS_RULE,
  )
  .describe('Amounts by unit, such as `{"tokens": 1200}`')
  .meta({ id: 'Amounts' })

/** RFC 3339 in UTC with `Z`. */
export const Timestamp = z.iso
  .datetime({ error: 'must be an RFC 3339 time in UTC, such as 2026-11-20T08:00:00.000Z' })
  .meta({ id: 'Timestamp' })

/** `"type:id"`, `""` for none, or the parts. */
export const Resource = z
  .union([
    z.string().refine(isNameOrNone, `must be empty or ${NAME_RULE}`),
    z.strictObject({
      type: Name,
      id: Name,
      properties: FreeForm.optional(),
    }),
  ])
  .meta({ id: 'Resource' })
export type Resource = z.infer<typeof Resource>

const wholeRule = (min: number, max: number) => `must be a whole number from ${min} to ${max}`

/** An integer from `min` to `max` in a body; every error names the range. */
export function integer(min: number, max: number) {
  const rule = wholeRule(min, max)
  return z.int(rule).min(min, rule).max(max, rule)
}

const DIGITS = /^(0|[1-9][0-9]{0,15})$/

/**
 * An integer from `min` to `max` as a parameter, which arrives as text and is documented as a
 * number.
 */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .refine(
      (text) => DIGITS.test(text) && Number(text) >= min && Number(text) <= max,
      wholeRule(min, max),
    )
    .transform(Number)
    .meta({ type: 'integer', minimum: min, maximum: max })

/** A sequence number: zero-based, at most 2^53-1. */
export const Seq = wholeNumber(0, Number.MAX_SAFE_INTEGER)

export const Paging = {
  limit: wholeNumber(1, 1000).default(100),
  cursor: z.string().max(512).optional(),
}

export const page = <T extends z.ZodType>(item: T) =>
  z.object({ data: z.array(item), next_cursor: z.string().nullable() })

/**
 * Returns the issues of a value that another schema describes, for a rule of the surrounding schema.
 * Issues without a message of the schema get one from the surrounding parse.
 */
export function issuesOf(
  schema: z.ZodType,
  value: unknown,
  parents: readonly string[] = [],
): z.core.$ZodRawIssue[] {
  const { error } = schema.safeParse(value, { error: () => '', reportInput: true })
  return (error?.issues ?? []).map(({ message, path, ...issue }) => {
    const text = message === '' ? {} : { message }
    return { ...issue, ...text, path: [...parents, ...path] } as z.core.$ZodRawIssue
  })
}
