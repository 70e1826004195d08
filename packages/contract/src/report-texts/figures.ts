import type { Figure } from '../report-document.ts'

/** Labels of figure members whose names are unclear. */
const LABELS: Readonly<Record<string, string>> = {
  agent_days: 'agent-days over the cap',
  agent_hours: 'agent-hours over the cap',
  agent_months: 'agent-months over the cap',
  agents_checked: 'agents checked',
  allows_after_stop: 'allows after a stop',
  asserted: 'unnamed votes for which the request gave a name',
  busiest_share: 'share of the busiest approver',
  by_others: 'by shared keys, the operator or agents',
  callers: 'unregistered callers',
  checked: 'compared',
  count: 'found',
  covered: 'covered',
  days: 'days without',
  decisions_with_a_rule: 'decisions with a rule in force',
  default_effect: 'where no policy matches',
  denied_by_default: 'denied for lack of a rule',
  denied_share: 'denied',
  early_prunings: 'prunings of younger entries',
  first_bad_seq: 'first invalid entry',
  first_denial_seconds: 'first denial after a stop, in seconds',
  first_seq: 'first entry',
  followed: 'followed by an allow',
  former: 'by keys of people who were disabled or removed',
  from_seq: 'from entry',
  kept_days: 'age of the record in days',
  last_seq: 'last entry',
  longest_days: 'longest interval in days',
  longest_delay_hours: 'longest delay in hours',
  longest_hours: 'longest silence in hours',
  max_per_hour: 'most in one hour',
  mismatches: 'disagreeing',
  named: 'by a named person',
  not_intact: 'not as recorded',
  ok: 'sound',
  oldest_seconds: 'oldest pending request, in seconds',
  orphaned: 'alive after the agent was removed',
  overdue: 'pending too long',
  p95: '95% within',
  p95_seconds: '95% within, in seconds',
  rapid_share: 'in under 5 seconds',
  refusal_share: 'refusals',
  regressions: 'entries dated before their predecessor',
  setting_days: 'retention set, in days',
  shortest_pruned_age_days: 'youngest entry that was pruned, in days',
  to_seq: 'to entry',
  unlimited: 'without scope or expiry',
  unlinked: 'without a session or request',
  unnamed: 'by keys without a named person',
  untrusted: 'from untrusted issuers',
  unused: 'not used',
  verified_from_seq: 'verified from entry',
  wildcards: 'for every action',
}

/** The thresholds of the rules, with their units. */
export const THRESHOLD_LABELS: Readonly<Record<string, string>> = {
  silence_hours: 'Longest silence, hours',
  retention_days: 'Retention, days',
  verification_interval_days: 'Between two verifications, days',
  ungoverned_percent: 'Allows that matched no rule or grant, percent',
  approval_p95_hours: 'Time to decide for 95% of requests, hours',
  approval_pending_hours: 'Longest pending request, hours',
  rapid_seconds: 'An approval is rapid below, seconds',
  rapid_percent: 'Rapid approvals, percent',
  unrefused_decisions: 'Decisions without a refusal',
  unrefused_median_seconds: 'Median of decisions without a refusal, seconds',
  approver_decisions_per_hour: 'Votes of one approver in an hour',
  min_approvals: 'Approvals required to assess rapid voting',
  credential_max_age_days: 'Age of a credential, days',
  revocation_delay_hours: 'Credential after the removal of its agent, hours',
  dormant_days: 'An agent is dormant after, days',
  unused_grants_percent: 'Unused grants, percent',
  unused_grant_days: 'A grant is unused after, days',
  unpreviewed_percent: 'New policies without a preview, percent',
  preview_hours: 'A preview counts for, hours',
  author_hours: 'A rule change is recent for, hours',
  guarded_percent: 'Agents that the guard checks, percent',
  scorer_interval_days: 'Between two scorer runs, days',
  scorer_fail_percent: 'Failed items of a scorer, percent',
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
const DAY = 86_400_000

/** A period of whole UTC days as its first and last day; other periods as instants. */
export function periodText({ from, to }: { readonly from: string; readonly to: string }): string {
  if (!from.endsWith('T00:00:00.000Z') || !to.endsWith('T00:00:00.000Z'))
    return `${momentText(from)} to before ${momentText(to)}`
  const [first, last] = [dayText(Date.parse(from)), dayText(Date.parse(to) - DAY)]
  return first === last ? first : `${first} to ${last}`
}

/** `2026-01-31T08:00:00.000Z` for people, to the second. */
export const momentText = (time: string): string =>
  `${dayText(Date.parse(time))}, ${time.slice(11, 19)} UTC`

// Independent of the locale and time zone of the machine.
export function dayText(time: number): string {
  const date = new Date(time)
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`
}

/** Figures whose member names are recorded values: scorers. */
const OF_RECORDED_NAMES: ReadonlySet<string> = new Set(['M48', 'SCR-2'])
/** Members whose own member names are recorded values: entry kinds, actors, scorers, issuers. */
const BY_RECORDED_NAMES: ReadonlySet<string> = new Set([
  'by_kind',
  'by_actor',
  'by_scorer',
  'by_issuer',
])

/** Shares of time, whose millisecond counts are not printed. */
const OF_TIME: ReadonlySet<string> = new Set(['M06', 'LED-5'])

/** Formats the value of a metric or a check; `id` is that of the metric or the check. */
export const figureText = (figure: Figure, id = ''): string =>
  figure === null
    ? 'nothing to measure'
    : withoutCounts(id, partText(figure, OF_RECORDED_NAMES.has(id)))

const withoutCounts = (id: string, text: string): string =>
  OF_TIME.has(id) ? text.replace(/ \(\d+ of \d+\)/, '') : text

/** The unit of a metric, for a reader of `figureText`. */
export const unitText = (unit: string): string => (unit === 'ratio' ? 'percent' : unit)

function partText(figure: Figure, isRecorded: boolean): string {
  if (figure === null) return 'none'
  if (typeof figure === 'boolean') return figure ? 'yes' : 'no'
  if (typeof figure !== 'object') return numberText(String(figure))
  if (isList(figure))
    return figure.length === 0 ? 'none' : figure.map((one) => partText(one, isRecorded)).join(', ')
  const { numerator, denominator, id, count } = figure
  if (typeof numerator === 'number' && typeof denominator === 'number')
    return `${percentOf(numerator, denominator)} (${numerator} of ${denominator})`
  if (typeof id === 'string' && typeof count === 'number') return `${id} (${count})`
  const members = Object.entries(figure)
  if (members.length === 0) return 'none'
  return members
    .map(([name, one]) => `${isRecorded ? name : labelOf(name)}: ${nested(one, name, isRecorded)}`)
    .join('; ')
}

/** The content of a figure, in brackets if it would run into the following text. */
function nested(figure: Figure, name: string, isRecorded: boolean): string {
  if (name === 'difference' && typeof figure === 'string') return pointsText(figure)
  const text = partText(figure, !isRecorded && BY_RECORDED_NAMES.has(name))
  return text.includes('; ') ? `[${text}]` : text
}

/** A share with at most one decimal: `20%`, `33.3%`. */
export const percentOf = (numerator: number, denominator: number): string =>
  `${Math.round((numerator * 1000) / denominator) / 10}%`

/** Formats a difference of two shares, such as `0.1214`, in percentage points. */
const pointsText = (text: string): string => `${numberText((Number(text) * 100).toFixed(1))} points`

/** Removes trailing zeros: `15.00` is 15. */
const numberText = (text: string): string =>
  /^-?\d+\.\d+$/.test(text) ? text.replace(/\.?0+$/, '') : text

const labelOf = (name: string): string =>
  Object.hasOwn(LABELS, name) ? (LABELS[name] ?? name) : name.replaceAll('_', ' ')

// The built-in test does not narrow a readonly list.
const isList = (figure: Figure): figure is readonly Figure[] => Array.isArray(figure)
