import type { ReportFinding, Severity } from '@remit/contract'
import type { CheckDefinition } from '../catalogue/definitions.ts'
import { CHECKS } from '../catalogue/catalogue.ts'
import type { Failure, Outcome } from '../facts/index.ts'
import { isApplicable } from './status.ts'

const RANK: Readonly<Record<Severity, number>> = { critical: 0, high: 1, medium: 2, low: 3 }
// Nobody reads more of one kind, and a report must not grow with the number of agents.
const MOST_OF_A_CHECK = 100
const MOST_SEQS = 50

/** Every check is about the controls that name it; these two are about all that are computed. */
const ABOUT_ALL: ReadonlySet<string> = new Set(['LED-1', 'LED-7'])

/** Which controls of the report a check is about. */
export type ControlsOf = (check: CheckDefinition) => readonly string[]

/** The controls that a check is about, among those in scope. */
export const controlsOf =
  (
    framework: keyof CheckDefinition['controls'],
    inScope: readonly { readonly id: string; readonly coverage: string }[],
  ): ControlsOf =>
  (check) =>
    inScope
      .filter(({ id, coverage }) =>
        ABOUT_ALL.has(check.id) ? coverage !== 'manual' : check.controls[framework].includes(id),
      )
      .map(({ id }) => id)

interface Found {
  readonly check: CheckDefinition
  readonly text: string
  readonly count: number
  readonly seqs: readonly number[]
}

/** What does not hold, the gravest first, numbered. The order depends on the facts alone. */
export const findingsOf = (outcomes: readonly Outcome[], controls: ControlsOf): ReportFinding[] =>
  outcomes
    .flatMap(foundBy)
    .toSorted(inOrder)
    .map(({ check, text, count, seqs }, i) => ({
      id: `F-${String(i + 1).padStart(4, '0')}`,
      check: check.id,
      severity: check.severity,
      text,
      count,
      seqs: [...seqs],
      controls: [...controls(check)],
    }))

function foundBy(outcome: Outcome): Found[] {
  const check = CHECKS.get(outcome.check)
  if (!check || !isApplicable(outcome) || outcome.ok) return []
  const found = outcome.failures.map((failure) => foundOf(check, failure)).toSorted(inOrder)
  return [...found.slice(0, MOST_OF_A_CHECK), ...restOf(check, found.slice(MOST_OF_A_CHECK))]
}

const foundOf = (check: CheckDefinition, { params, count, seqs }: Failure): Found => ({
  check,
  text: textOf(check.finding, params),
  count,
  seqs: seqs.slice(0, MOST_SEQS),
})

/** One finding that stands for all that are not shown. */
function restOf(check: CheckDefinition, rest: readonly Found[]): Found[] {
  if (rest.length === 0) return []
  const seqs = rest.flatMap((one) => one.seqs).toSorted((a, b) => a - b)
  return [
    {
      check,
      text: `${rest.length} more like these.`,
      count: rest.reduce((sum, { count }) => sum + count, 0),
      seqs: seqs.slice(0, MOST_SEQS),
    },
  ]
}

/** The sentence of the catalogue with its parameters; what they hold is never read as another one. */
const textOf = (template: string, params: Failure['params']): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) =>
    Object.hasOwn(params, name) ? String(params[name]) : 'unknown',
  )

const firstSeq = ({ seqs }: Found): number => seqs[0] ?? Number.MAX_SAFE_INTEGER

const inOrder = (a: Found, b: Found): number =>
  RANK[a.check.severity] - RANK[b.check.severity] ||
  byCodeUnit(a.check.id, b.check.id) ||
  firstSeq(a) - firstSeq(b) ||
  byCodeUnit(a.text, b.text)

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
