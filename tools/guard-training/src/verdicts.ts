import { GuardRequest } from '@remit/contract'
import type { GuardSource } from '@remit/contract'
import { checkContent } from '@remit/core/guard/internals'
import { isDocument } from './rows.ts'
import type { Row } from './rows.ts'

/** A text with the score that the complete guard gives it. */
export interface Judged {
  readonly row: Row
  readonly score: number
}

/** Flagged and blocked from these scores on. */
export const LEVELS = {
  high: [0.35, 0.65],
  balanced: [0.5, 0.8],
  low: [0.65, 0.9],
} as const satisfies Record<GuardRequest['sensitivity'], readonly [number, number]>

/** Secrets and personal data do not count towards the score. */
const scoreOf = (content: string, source: GuardSource): number =>
  checkContent(GuardRequest.parse({ content, source, checks: ['injection', 'invisible'] })).score

export const judge = (rows: readonly Row[]): Judged[] =>
  rows.map((row) => ({ row, score: scoreOf(row.text, row.ctx) }))

/** Shares flagged and blocked: `3.1 / 0.9`. */
export function rates(judged: readonly Judged[], level: keyof typeof LEVELS = 'balanced'): string {
  return LEVELS[level].map((from) => percent(judged, ({ score }) => score >= from)).join(' / ')
}

const percent = <T>(all: readonly T[], wanted: (one: T) => boolean): string =>
  all.length === 0 ? '–' : ((100 * all.filter(wanted).length) / all.length).toFixed(1)

/** Upper bounds of the lengths that are told apart, in UTF-16 units. */
export const LENGTHS = [1_000, 2_500, 6_000, 15_000, Infinity]

export const lengthName = (i: number): string =>
  LENGTHS[i] === Infinity
    ? `${LENGTHS[i - 1]?.toLocaleString('en')} and more`
    : `up to ${LENGTHS[i]?.toLocaleString('en')}`

export const hasLength = ({ text }: Row, i: number): boolean =>
  text.length < (LENGTHS[i] ?? 0) && text.length >= (LENGTHS[i - 1] ?? 0)

export const kindOf = ({ ctx }: Row): string =>
  ctx === 'tool' ? 'tool results' : isDocument(ctx) ? 'documents' : 'requests of users'
