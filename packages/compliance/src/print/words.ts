import type {
  ControlStatus,
  ReportCheck,
  ReportControl,
  ReportEvidence,
  ReportSummary,
  StatusReason,
} from '@remit/contract'

export const EVALUATION_NOTICE =
  'Made by a server that runs without a licence, to be tried. Not for production.'

export const STATUS_WORDS: Readonly<Record<ControlStatus, string>> = {
  satisfied: 'Evidence found',
  attention: 'Attention',
  not_evidenced: 'Not evidenced',
  manual: 'Manual',
}

/** What a status says, and what it does not. */
export const STATUS_MEANINGS: Readonly<Record<ControlStatus, string>> = {
  satisfied:
    'For the agents that are governed here, the listed checks passed over the stated populations in the period. It speaks for that part only.',
  attention: 'Something does not hold: see the findings.',
  not_evidenced: 'The record shows nothing that could be judged, for the stated reason.',
  manual: 'The record shows nothing for it by design; the organization supplies all of it.',
}

export const REASON_WORDS: Readonly<Record<StatusReason, string>> = {
  ledger_not_verified: 'the ledger did not verify',
  check_failed: 'a check failed',
  not_in_plan: 'not in the plan',
  not_configured: 'nothing is set up',
  not_exercised: 'not used in the period',
  too_small: 'too few cases to judge',
  too_young: 'the record or the period is too short to judge',
  nothing_to_check: 'nothing to check',
}

export const COVERAGE_WORDS: Readonly<Record<ReportControl['coverage'], string>> = {
  automated: 'wholly',
  partial: 'in part',
  manual: 'not at all',
}

export const RESULT_WORDS = {
  pass: 'passed',
  fail: 'failed',
  too_small: 'too few to judge',
  too_young: 'too short to judge',
  not_applicable: 'does not apply',
} as const

export const evidenceWords = ({ operated, reason }: ReportEvidence): string =>
  operated || reason === null ? (operated ? 'at work' : 'not at work') : REASON_WORDS[reason]

/** `credential_lifecycle` as words at the beginning of a line. */
export const titleOf = (id: string): string => {
  const words = id.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export const seqText = (seqs: readonly number[]): string => seqs.join(', ')

/** How much a check looked at and, where that was too little, how much it takes. */
export function lookedAtText({ population, basis, days, least, result }: ReportCheck): string {
  if (least === undefined || basis === undefined || days === undefined) return String(population)
  const looked = `${least.of}: ${basis}`
  const over = `${days} ${days === 1 ? 'day' : 'days'}`
  const where = {
    period: 'of the period',
    record: 'of record',
    organization: 'since the organization was made',
  }[least.over]
  if (result === 'too_small') return `${looked}; it takes at least ${least.population} to judge`
  if (result === 'too_young')
    return `${over} ${where}, shorter than the ${least.days} that this check takes`
  return looked
}

/** Sequence numbers with the days of their entries: `12, 13 (2026-01-03); 19 (2026-01-04)`. */
export function datedText(
  seqs: readonly number[],
  dates: readonly (string | null)[] | undefined,
): string {
  if (dates === undefined) return seqText(seqs)
  const groups: { day: string; seqs: number[] }[] = []
  for (const [i, seq] of seqs.entries()) {
    const day = dates[i]?.slice(0, 10) ?? 'no longer kept'
    const last = groups.at(-1)
    if (last?.day === day) last.seqs.push(seq)
    else groups.push({ day, seqs: [seq] })
  }
  return groups.map((group) => `${seqText(group.seqs)} (${group.day})`).join('; ')
}

/** Texts of whole sentences, one by one. */
export const sentencesIn = (text: string): string[] =>
  text.split(/(?<=\.)\s+(?=\p{Lu})/u).filter((sentence) => sentence !== '')

/** A sentence of what must be supplied as an item of a list that says so already. */
export const supplyItem = (sentence: string): string =>
  / (?:and|that|which) must be supplied/.test(sentence)
    ? sentence
    : sentence.replace(/ must be supplied\.$/, '.')

/** The severities of findings that were not put right, as `1 high, 2 low`; null where none is known. */
export function openText(summary: ReportSummary): string | null {
  const { open_critical, open_high, open_medium, open_low } = summary
  if (open_critical === undefined) return null
  const counts = { critical: open_critical, high: open_high, medium: open_medium, low: open_low }
  const open = Object.entries(counts).filter(([, count]) => (count ?? 0) > 0)
  return open.length === 0 ? 'none' : open.map(([name, count]) => `${count} ${name}`).join(', ')
}
