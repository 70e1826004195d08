import type { ReportFinding, Severity } from '@remit/contract'
import { dayText } from '@remit/contract/report-texts'
import type { CheckDefinition, FrameworkDefinition } from '../catalogue/definitions.ts'
import { CHECKS } from '../catalogue/catalogue.ts'
import type { EntryNote, PeriodFacts, CheckFailure, CheckOutcome } from '../facts/index.ts'
import { isApplicable } from './status.ts'

const RANK: Readonly<Record<Severity, number>> = { critical: 0, high: 1, medium: 2, low: 3 }
// Limits the findings of one check: a report must not grow with the number of agents.
const MOST_OF_A_CHECK = 100
const MOST_SEQS = 50

/** A check concerns the controls that name it; these concern all computed controls. */
const ABOUT_ALL: ReadonlySet<string> = new Set(['LED-1', 'LED-7', 'LED-8'])

export const isAboutAll = ({ id }: CheckDefinition): boolean => ABOUT_ALL.has(id)

/** The controls of the report that a check concerns. */
export type ControlsOf = (check: CheckDefinition) => readonly string[]

/**
 * The controls in scope that a failed check concerns. A serious failure that none of them names
 * concerns the framework's fallback control.
 */
export const controlsOf =
  (
    { id: framework, fallback }: Pick<FrameworkDefinition, 'id' | 'fallback'>,
    inScope: readonly { readonly id: string; readonly coverage: string }[],
  ): ControlsOf =>
  (check) => {
    const named = inScope.filter(({ id, coverage }) =>
      isAboutAll(check) ? coverage !== 'manual' : check.controls[framework].includes(id),
    )
    if (named.length > 0 || RANK[check.severity] > RANK.high) return named.map(({ id }) => id)
    return fallback.filter((id) => inScope.some((one) => one.id === id)).slice(0, 1)
  }

interface Found {
  readonly check: CheckDefinition
  readonly text: string
  readonly count: number
  readonly seqs: readonly number[]
  readonly fixedBy: number | null
}

/** Findings, the most severe first, numbered. The order depends only on the facts. */
export const findingsOf = (
  { checks, entries }: Pick<PeriodFacts, 'checks' | 'entries'>,
  controls: ControlsOf,
): ReportFinding[] =>
  checks
    .flatMap(foundBy)
    .toSorted(inOrder)
    .map((found, i) => {
      const { check, text, count, seqs, fixedBy } = found
      const named = namedIn(found, entries)
      return {
        id: `F-${String(i + 1).padStart(4, '0')}`,
        check: check.id,
        title: check.title,
        severity: check.severity,
        text: [text, ...sentencesOf(named, found, entries)].join(' '),
        count,
        seqs: [...seqs],
        dates: seqs.map((seq) => entries.get(seq)?.at ?? null),
        ...named,
        fixed_seq: fixedBy,
        fixed_at: fixedBy === null ? null : (entries.get(fixedBy)?.at ?? null),
        controls: [...controls(check)],
      }
    })

interface Named {
  readonly agents: string[]
  readonly keys: string[]
}

/** The agents and keys of a finding's entries; findings about the chain have none. */
function namedIn({ check, seqs }: Found, entries: PeriodFacts['entries']): Named {
  if (check.id.startsWith('LED-') || check.id === 'REP-1') return { agents: [], keys: [] }
  const all = (of: (note: EntryNote) => string | null): string[] => [
    ...new Set(seqs.flatMap((seq) => of(entries.get(seq) ?? NOBODY) ?? [])),
  ]
  return { agents: all(({ agentId }) => agentId), keys: all(({ by }) => by) }
}

const NOBODY: EntryNote = { at: '', agentId: null, by: null }
/** The most names of one sentence; the lists have all of them. */
const MOST_NAMES = 10

/** The agents, keys, dates and correction of a finding, as sentences after its text. */
function sentencesOf(
  { agents, keys }: Named,
  found: Found,
  entries: PeriodFacts['entries'],
): string[] {
  const { count, seqs, fixedBy } = found
  const days = seqs.flatMap((seq) => entries.get(seq)?.at.slice(0, 10) ?? []).toSorted()
  const first = days[0]
  const last = days.at(-1)
  const sentences = [
    ...namesSentence('Agents', agents, found),
    ...namesSentence('Recorded by', keys, found),
  ]
  if (first !== undefined && last !== undefined) {
    const until = count > seqs.length ? 'and later' : `to ${dayText(Date.parse(last))}`
    sentences.push(
      `Dates: ${dayText(Date.parse(first))}${first === last && count <= seqs.length ? '' : ` ${until}`}.`,
    )
  }
  const at = fixedBy === null ? undefined : entries.get(fixedBy)?.at
  if (fixedBy !== null)
    sentences.push(
      `Corrected by entry ${fixedBy}${at === undefined ? '' : ` on ${dayText(Date.parse(at))}`}.`,
    )
  return sentences
}

function namesSentence(title: string, names: readonly string[], { count, seqs }: Found): string[] {
  if (names.length === 0) return []
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : ''
  const where = count > seqs.length ? `, in the first ${seqs.length} entries` : ''
  return [`${title}: ${names.slice(0, MOST_NAMES).join(', ')}${more}${where}.`]
}

function foundBy(outcome: CheckOutcome): Found[] {
  const check = CHECKS.get(outcome.check)
  if (!check || !isApplicable(outcome) || outcome.ok) return []
  const found = outcome.failures.map((failure) => foundOf(check, failure)).toSorted(inOrder)
  return [...found.slice(0, MOST_OF_A_CHECK), ...restOf(check, found.slice(MOST_OF_A_CHECK))]
}

const foundOf = (
  check: CheckDefinition,
  { params, count, seqs, fixedBy }: CheckFailure,
): Found => ({
  check,
  text: textOf(check.finding, params),
  count,
  seqs: seqs.slice(0, MOST_SEQS),
  fixedBy: fixedBy ?? null,
})

/** One finding for all that are omitted, open while one of them is. */
function restOf(check: CheckDefinition, rest: readonly Found[]): Found[] {
  if (rest.length === 0) return []
  const seqs = rest.flatMap((one) => one.seqs).toSorted((a, b) => a - b)
  return [
    {
      check,
      text: `${rest.length} more like these.`,
      count: rest.reduce((sum, { count }) => sum + count, 0),
      seqs: seqs.slice(0, MOST_SEQS),
      fixedBy: rest.reduce<number | null>(
        (last, { fixedBy }) => (last === null || fixedBy === null ? null : Math.max(last, fixedBy)),
        0,
      ),
    },
  ]
}

/** Fills the template of the catalogue; parameter values are never interpreted as templates. */
const textOf = (template: string, params: CheckFailure['params']): string =>
  template.replace(
    /\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g,
    (_, name: string, one?: string, many?: string) => {
      const value = Object.hasOwn(params, name) ? String(params[name]) : 'unknown'
      return one === undefined ? value : `${value} ${value === '1' ? one : many}`
    },
  )

const firstSeq = ({ seqs }: Found): number => seqs[0] ?? Number.MAX_SAFE_INTEGER

const inOrder = (a: Found, b: Found): number =>
  RANK[a.check.severity] - RANK[b.check.severity] ||
  byCodeUnit(a.check.id, b.check.id) ||
  firstSeq(a) - firstSeq(b) ||
  byCodeUnit(a.text, b.text)

const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
