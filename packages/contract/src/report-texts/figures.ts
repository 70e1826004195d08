import type { Figure } from '../report-document.ts'
import { LABELS } from './labels.ts'

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
