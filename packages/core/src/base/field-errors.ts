import type { FieldError } from '@remit/contract'
import type { z } from 'zod'
import { hasOwnMessage, issueText, mustBe, receivedOf } from './issue-text.ts'

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
