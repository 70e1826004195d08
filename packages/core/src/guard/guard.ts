import type { GuardAction, GuardAnswer, GuardFinding, GuardRequest } from '@remit/contract'
import { prepareCanaries } from './canaries.ts'
import { categoryOf } from './categories.ts'
import { checkText } from './check-text.ts'
import type { TextVerdict } from './check-text.ts'
import type { Detection } from './detection.ts'
import { riskOf } from './detection.ts'
import { readingOfContent, readingOfMessage, thresholdsOf } from './reading.ts'
import { partAt } from './scored-parts.ts'
import type { ExternalDetections } from './external-model.ts'
import { shippedModel } from './shipped-model.ts'

/** A text of the request with its verdict; `index` and `role` for messages. */
interface Checked {
  readonly text: string
  readonly verdict: TextVerdict
  readonly index?: number
  readonly role?: string
}

const STRENGTH: Readonly<Record<GuardAction, number>> = { allow: 0, redact: 1, block: 2 }
const SEVERITIES: readonly GuardFinding['severity'][] = ['critical', 'high', 'medium', 'low']
const MAX_FINDINGS = 1_000
const MAX_EXCERPT = 2_000
const MAX_TERMS = 10

/**
 * Returns the result of the guard for a request. Pure: no clock, no store, no network. `opinions`
 * are the detections of the external model for each text.
 */
export function checkContent(
  request: GuardRequest,
  opinions: ExternalDetections = [],
): GuardAnswer {
  const thresholds = thresholdsOf(request)
  const { canaries = [], allow = [], content, messages = [], explain } = request
  const given = { thresholds, canaries: prepareCanaries(canaries), allow, explain }
  const { model, identity } = shippedModel()
  const checked: Checked[] =
    content !== undefined
      ? [
          {
            text: content,
            verdict: checkText(content, readingOfContent(request), given, model, opinions[0]),
          },
        ]
      : messages.map((message, index) => ({
          text: message.content,
          verdict: checkText(
            message.content,
            readingOfMessage(request, message),
            given,
            model,
            opinions[index],
          ),
          index,
          role: message.role,
        }))
  const verdicts = checked.map(({ verdict }) => verdict)
  const score = Math.max(0, ...verdicts.map((verdict) => verdict.score))
  const detections = verdicts.flatMap((verdict) => verdict.detections)
  return {
    action: strongest(verdicts.map(({ action }) => action)),
    flagged: verdicts.some(({ flagged }) => flagged),
    score,
    reasons: reasonsOf(verdicts, thresholds.flag),
    categories: categoriesOf(verdicts),
    findings: findingsOf(checked),
    ...(content !== undefined && repairedBy(verdicts[0])),
    normalizations: countsOf(verdicts),
    ...(explain && { top_terms: topTerms(detections), parts: partsOfAll(checked) }),
    threshold: thresholds.flag,
    model: identity,
    ...(content === undefined && { messages: checked.map(toMessage) }),
  }
}

const strongest = (actions: readonly GuardAction[]): GuardAction =>
  actions.reduce((best, action) => (STRENGTH[action] > STRENGTH[best] ? action : best), 'allow')

/** Returns the reasons of a result: redacted findings, and the causes of a flag. */
function reasonsOf(verdicts: readonly TextVerdict[], flagAt: number): string[] {
  const reasons = verdicts.flatMap(({ score, detections }) =>
    detections
      .filter(({ replacement }) => replacement !== undefined || score >= flagAt)
      .map(({ reason }) => reason),
  )
  return [...new Set(reasons)].toSorted()
}

function categoriesOf(verdicts: readonly TextVerdict[]): GuardAnswer['categories'] {
  const scores = new Map<Detection['category'], number>()
  for (const { detections } of verdicts) {
    for (const [id, members] of Map.groupBy(detections, ({ category }) => category)) {
      // Findings with a fixed form and check digits are certain.
      const score = members.some(({ risk }) => risk === undefined) ? 1 : riskOf(members)
      scores.set(id, Math.max(score, scores.get(id) ?? 0))
    }
  }
  return [...scores]
    .toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([id, score]) => {
      const { owasp, atlas } = categoryOf(id)
      return { id, score, owasp: [...owasp], atlas: [...atlas] }
    })
}

/** For each text the number of parts before it. */
function firstPartOf(checked: readonly Checked[]): number[] {
  let before = 0
  return checked.map(({ verdict }) => {
    const first = before
    before += verdict.parts?.length ?? 0
    return first
  })
}

function partsOfAll(checked: readonly Checked[]): NonNullable<GuardAnswer['parts']> {
  return checked.flatMap(({ verdict, index }) =>
    (verdict.parts ?? []).map((part) => ({
      ...part,
      ...(index !== undefined && { message: index }),
    })),
  )
}

/** In order of the text; of a flood of findings the severest 1,000. */
function findingsOf(checked: readonly Checked[]): GuardFinding[] {
  const firstParts = firstPartOf(checked)
  const findings = checked.flatMap(({ text, verdict, index }, i) =>
    verdict.detections.map((detection): GuardFinding => ({
      detector: detection.detector,
      category: detection.category,
      severity: detection.severity,
      start: detection.start,
      end: detection.end,
      excerpt: text.slice(detection.start, Math.min(detection.end, detection.start + MAX_EXCERPT)),
      view: detection.view,
      ...(detection.decoded !== undefined && { decoded: detection.decoded }),
      ...(index !== undefined && { message: index }),
      ...(verdict.parts && {
        part: (firstParts[i] ?? 0) + partAt(verdict.parts, detection.start),
      }),
    })),
  )
  const rank = ({ severity }: GuardFinding) => SEVERITIES.indexOf(severity)
  return findings
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, MAX_FINDINGS)
    .toSorted((a, b) => (a.message ?? 0) - (b.message ?? 0) || a.start - b.start || a.end - b.end)
}

function countsOf(verdicts: readonly TextVerdict[]): GuardAnswer['normalizations'] {
  const counts = new Map<string, number>()
  for (const verdict of verdicts) {
    for (const [kind, count] of verdict.counts) counts.set(kind, (counts.get(kind) ?? 0) + count)
  }
  return [...counts]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([kind, count]) => ({ kind, count }))
}

function topTerms(detections: readonly Detection[]): NonNullable<GuardAnswer['top_terms']> {
  const terms = new Map<string, number>()
  const add = (feature: string, contribution: number) =>
    terms.set(feature, Math.max(contribution, terms.get(feature) ?? 0))
  for (const { detector, risk, terms: words = [] } of detections) {
    if (risk !== undefined) add(detector, risk)
    for (const { word, weight } of words)
      add(`${detector}: ${word}`, Math.round(weight * 1e4) / 1e4)
  }
  return [...terms]
    .map(([feature, contribution]) => ({ feature, contribution }))
    .toSorted((a, b) => b.contribution - a.contribution)
    .slice(0, MAX_TERMS)
}

const repairedBy = (
  verdict: TextVerdict | undefined,
): Pick<GuardAnswer, 'redacted' | 'sanitized'> => ({
  ...(verdict?.redacted !== undefined && { redacted: verdict.redacted }),
  ...(verdict?.sanitized !== undefined && { sanitized: verdict.sanitized }),
})

const toMessage = ({ verdict, index = 0, role = '' }: Checked) => ({
  index,
  role,
  action: verdict.action,
  flagged: verdict.flagged,
  score: verdict.score,
  ...repairedBy(verdict),
})
