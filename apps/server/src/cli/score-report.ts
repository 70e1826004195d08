import type { Score, ScorersAnswer } from '@remit/contract'
import { printableLine } from './printable.ts'
import { facts, table } from './table.ts'

const SHOWN = 20
const MAX_REASON = 100

/** Formats the statistics, and the first results that did not pass, for a person. */
export function describeScores({
  scorer,
  scorer_version,
  threshold,
  scores,
  aggregate,
}: ScorersAnswer): string {
  const { count, scored, errors, mean, median, min, max } = aggregate
  const { mean_ci, pass_rate, pass_rate_ci, corpus_score } = aggregate
  const wanting = scores.filter(({ passed }) => passed !== true)
  return [
    facts({
      scorer: `${scorer}, version ${scorer_version}`,
      results: errors === 0 ? count : `${count}, ${errors} of them without a score`,
      ...(scored > 0 && {
        mean: `${number(mean)}${interval(mean_ci)}`,
        'median, least, most': [median, min, max].map(number).join(', '),
        [`passed, threshold ${threshold}`]: `${number(pass_rate)}${interval(pass_rate_ci)}`,
      }),
      ...(corpus_score !== null && { 'corpus score': number(corpus_score) }),
    }),
    wanting.length === 0 ? '' : `\nNot passed:\n${table(HEADER, wanting.slice(0, SHOWN).map(row))}`,
    wanting.length > SHOWN ? `and ${wanting.length - SHOWN} more\n` : '',
  ].join('')
}

const HEADER = ['#', 'ID', 'SCORE', 'REASON']

const row = ({ index, id, score, reason }: Score): string[] => [
  String(index + 1),
  id === null ? '-' : printable(id),
  number(score),
  printable(reason),
]

const number = (value: number | null): string =>
  value === null ? '-' : String(Math.round(value * 1e4) / 1e4)

const interval = (range: { readonly low: number; readonly high: number } | null): string =>
  range === null ? '' : ` (95 %: ${number(range.low)} to ${number(range.high)})`

/** Makes a line safe for a terminal. */
const printable = (text: string): string =>
  printableLine(text.replaceAll(/[\r\n\t]+/g, ' ')).slice(0, MAX_REASON)
