import type { FieldError } from '@remit/contract'
import type { z } from 'zod'
import { mustBe, plain, receivedOf, saysItself } from './plain.ts'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** What a failed validation found, each fault once: in which field it is, and what the field takes. */
export function fieldErrors(
  issues: readonly Issue[],
  parents: Path = [],
  unknown = 'is not a known field',
): FieldError[] {
  const errors = withoutEchoes(issues).flatMap((issue) => errorsOf(issue, parents, unknown))
  return [...new Map(errors.map((error) => [`${error.path} ${error.message}`, error])).values()]
}

/** Zod also measures what has the wrong type, and holds whole numbers against the safe ones too. */
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
    return issue.issues.map((inner) => at(`its name ${plain(inner)}`))
  if (issue.code !== 'invalid_union' || issue.errors.length === 0 || saysItself(issue))
    return [at(plain(issue))]
  const meant = branchMeant(issue.errors)
  return meant ? fieldErrors(meant, path, unknown) : [at(kindsTaken(issue.errors.flat()))]
}

/** The branch of a union that says most about what was sent, or none where the type fits none. */
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

/** Every type that a union takes. A value that one takes beside all others of its type says nothing. */
function kindsTaken(issues: readonly Issue[]): string {
  const types = issues.flatMap((issue) => (issue.code === 'invalid_type' ? [issue.expected] : []))
  const values = issues
    .flatMap((issue) => (issue.code === 'invalid_value' ? issue.values : []))
    .filter((value) => !types.includes(typeof value as never))
  const received = issues.map(receivedOf).find((type) => type !== null)
  return mustBe([...types, ...values.map((value) => JSON.stringify(value))], received ?? null)
}
