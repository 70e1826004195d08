import type { ProblemCode, FieldError } from '@remit/contract'
import type { z } from 'zod'
import { fail } from './errors.ts'
import type { Failure } from './errors.ts'

/** The value as the schema returns it, with defaults applied. Throws `invalid_request`, or the schema's own code. */
export function checkShape<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value, FOR_FIELD_ERRORS)
  if (!result.success) throw invalidInput(result.error)
  return result.data
}

/** The code that the rule of an issue names (`params.code`). */
const codeOf = (issue: z.core.$ZodIssue): ProblemCode | undefined =>
  issue.code === 'custom' ? (issue.params?.['code'] as ProblemCode | undefined) : undefined

/**
 * The failure for a failed validation; it names every faulty field. A rule with its own code is
 * reported alone.
 */
export function invalidInput({ issues }: z.ZodError): Failure {
  const coded = issues.find((issue) => codeOf(issue) !== undefined)
  const errors = fieldErrors(coded ? [coded] : issues)
  const [first] = errors
  return fail(
    (coded && codeOf(coded)) ?? 'invalid_request',
    first && `${first.path || 'body'}: ${first.message}`,
    { errors },
  )
}

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/**
 * Converts zod issues into field errors without duplicates: the path of each field and the accepted
 * values.
 */
export function fieldErrors(
  issues: readonly Issue[],
  parents: Path = [],
  unknown = 'is not a known field',
): FieldError[] {
  const errors = withoutEchoes(issues).flatMap((issue) => errorsOf(issue, parents, unknown))
  return [...new Map(errors.map((error) => [`${error.path} ${error.message}`, error])).values()]
}

/**
 * Removes secondary issues: zod also checks sizes of values of the wrong type, and integers against
 * the safe range.
 */
function withoutEchoes(issues: readonly Issue[]): Issue[] {
  const placeOf = ({ path }: Issue) => JSON.stringify(path.map(String))
  const mistyped = new Set(issues.filter((issue) => issue.code === 'invalid_type').map(placeOf))
  const bounded = new Set(issues.filter((issue) => isSize(issue) && !isSafety(issue)).map(placeOf))
  return issues.filter(
    (issue) =>
      !isSize(issue) ||
      (!mistyped.has(placeOf(issue)) && !(isSafety(issue) && bounded.has(placeOf(issue)))),
  )
}

const isSize = ({ code }: Issue): boolean => code === 'too_big' || code === 'too_small'

const isSafety = (issue: Issue): boolean =>
  (issue.code === 'too_big' && issue.maximum === Number.MAX_SAFE_INTEGER) ||
  (issue.code === 'too_small' && issue.minimum === Number.MIN_SAFE_INTEGER)

function errorsOf(issue: Issue, parents: Path, unknown: string): FieldError[] {
  const path = [...parents, ...issue.path]
  const at = (message: string, place: Path = path): FieldError => ({
    path: place.map(String).join('.'),
    message,
  })
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => at(unknown, [...path, key]))
  if (issue.code === 'invalid_key')
    return issue.issues.map((inner) => at(`its name ${issueText(inner)}`))
  if (issue.code !== 'invalid_union' || issue.errors.length === 0 || hasOwnMessage(issue))
    return [at(issueText(issue))]
  const meant = branchMeant(issue.errors)
  return meant ? fieldErrors(meant, path, unknown) : [at(kindsTaken(issue.errors.flat()))]
}

/** Returns the branch of a union that fits the input best, or none if no type fits. */
function branchMeant(branches: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  const [best] = branches
    .filter((branch) => !branch.some(isAnotherKind))
    .toSorted((a, b) => strangersOf(a) - strangersOf(b) || depthOf(b) - depthOf(a))
  return best
}

const isAnotherKind = ({ code, path }: Issue): boolean =>
  path.length === 0 && (code === 'invalid_type' || code === 'invalid_value')

const strangersOf = (branch: readonly Issue[]): number =>
  branch.filter(({ code }) => code === 'unrecognized_keys').length

const depthOf = (branch: readonly Issue[]): number =>
  Math.max(0, ...branch.map(({ path }) => path.length))

/**
 * Lists every type that a union accepts. A literal is omitted if another branch accepts all values
 * of its type.
 */
function kindsTaken(issues: readonly Issue[]): string {
  const types = issues.flatMap((issue) => (issue.code === 'invalid_type' ? [issue.expected] : []))
  const values = issues
    .flatMap((issue) => (issue.code === 'invalid_value' ? issue.values : []))
    .filter((value) => !types.includes(typeof value as never))
  const mistyped = issues.find(({ code }) => code === 'invalid_type')
  return mustBe(
    [...types, ...values.map((value) => JSON.stringify(value))],
    mistyped ? receivedOf(mistyped) : null,
  )
}

type IssueTextIssue = z.core.$ZodIssue

/**
 * Parse options for input whose errors `fieldErrors` describes. Zod's own messages are left empty, so a
 * message is always the schema's, and issues keep their input.
 */
export const FOR_FIELD_ERRORS = { error: () => '', reportInput: true } as const

const hasOwnMessage = ({ message }: IssueTextIssue): boolean => message !== ''

/**
 * Returns the message for an issue in terms of JSON: the message of the schema, or the accepted
 * values.
 */
function issueText(issue: IssueTextIssue): string {
  if (hasOwnMessage(issue)) return issue.message
  switch (issue.code) {
    case 'invalid_type':
      return mustBe([issue.expected], receivedOf(issue))
    case 'invalid_value':
      return `must be ${anyOf(issue.values.map(shown))}`
    case 'too_big':
      return `must ${size(issue.origin, issue.exact ? '' : 'at most', issue.maximum)}`
    case 'too_small':
      if (issue.minimum === 1 && !issue.exact && UNITS[issue.origin]) return 'must not be empty'
      return `must ${size(issue.origin, issue.exact ? '' : 'at least', issue.minimum)}`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_format':
      return issue.pattern ? `must match ${issue.pattern}` : `must be a valid ${issue.format}`
    case 'invalid_union':
      return 'options' in issue && issue.options
        ? `must be ${anyOf(issue.options.map(shown))}`
        : 'is not valid'
    default:
      return 'is not valid'
  }
}

/** Returns the message for a value of a type that is not accepted. */
function mustBe(types: readonly string[], received: string | null): string {
  const taken = anyOf([...new Set(types)].map(named))
  if (received === 'undefined') return `is required: ${taken}`
  // A number with a fraction is still a number.
  const isTaken = received === 'number' && types.includes('int')
  return received === null || isTaken
    ? `must be ${taken}`
    : `must be ${taken}, not ${named(received)}`
}

/** Returns the JSON type of an issue's value; `undefined` if it is missing. */
function receivedOf({ input }: IssueTextIssue): string {
  if (input === null) return 'null'
  return Array.isArray(input) ? 'array' : typeof input
}

const NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'a boolean',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

const named = (type: string): string => NAMES[type] ?? type

const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
}

function size(origin: string, bound: string, count: number | bigint): string {
  const units = UNITS[origin]
  const text = [bound, String(count)].filter((word) => word !== '').join(' ')
  return units ? `have ${text} ${units[Number(count) === 1 ? 0 : 1]}` : `be ${text}`
}

const shown = (value: unknown): string =>
  typeof value === 'string' && value !== '' ? value : JSON.stringify(value)

const anyOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
