import type { GuardAction, GuardAnswer, GuardFinding, GuardRequest } from '@remit/contract'
import { categoryOf } from './categories.ts'
import { riskOf } from './detection.ts'
import type { Detection } from './detection.ts'
import { textsOf, thresholdsOf } from './reading.ts'
import type { TextToCheck, Thresholds } from './reading.ts'
import { partAt, scoredParts } from './scored-parts.ts'
import type { ScoredPart } from './scored-parts.ts'
import type { ExternalDetections } from './external-model.ts'
import { shippedModel } from './shipped-model.ts'
import { withoutAllowed } from './allow-list.ts'
import type { CharacterKind } from './characters.ts'
import { findInjections } from './injection.ts'
import { findInvisible } from './invisible.ts'
import type { Model } from './model/model.ts'
import { normalize } from './normalize.ts'
import { opaqueSpans } from './opaque.ts'
import { viewsOf } from './views/views.ts'
import { findPersonalData, findSecrets } from './secrets.ts'
import { originalSpan } from './view.ts'
import type { View, ViewName } from './view.ts'

interface Checked extends TextToCheck {
  readonly verdict: TextVerdict
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
  const { canaries = [], allow = [], content, explain } = request
  const given = { thresholds, canaries: prepareCanaries(canaries), allow, explain }
  const { model, identity } = shippedModel()
  const checked = textsOf(request).map((text, index): Checked => ({
    ...text,
    verdict: checkText(text, given, model, opinions[index]),
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

/** Inputs of a request other than the texts. */
interface CheckInputs {
  readonly thresholds: Thresholds
  readonly canaries: readonly Canary[]
  readonly allow: readonly string[]
  readonly explain: boolean
}

interface TextVerdict {
  readonly action: GuardAction
  readonly flagged: boolean
  /** 0 to 1: probability of an attack or a leak. Excludes secrets and personal data. */
  readonly score: number
  readonly detections: readonly Detection[]
  readonly counts: ReadonlyMap<CharacterKind, number>
  readonly redacted?: string
  readonly sanitized?: string
  readonly parts?: readonly ScoredPart[]
}

/** Checks one text. Pure; linear in the text. */
function checkText(
  { text, reading }: TextToCheck,
  given: CheckInputs,
  model: Model,
  opinions: readonly Detection[] = [],
): TextVerdict {
  const { checks, source } = reading
  const { explain } = given
  const { view: normalized, counts } = normalize(text)
  const invisible = findInvisible(text)
  const wantsSecrets = checks.has('secrets')
  const secrets = wantsSecrets || checks.has('injection') ? findSecrets(text) : []
  const found = [
    ...opinions,
    ...(checks.has('injection')
      ? findInjections(
          { text, normalized, hidden: invisible.hidden, opaque: opaqueSpans(text, secrets) },
          { ...reading, explain },
          model,
        )
      : []),
    ...(checks.has('invisible') ? invisible.detections : []),
    ...(wantsSecrets ? secrets : []),
    ...(checks.has('pii') ? findPersonalData(text) : []),
    ...(checks.has('canary') && given.canaries.length > 0
      ? findCanaries(text, normalized, given.canaries, viewsOf(text, normalized, model.vocabulary))
      : []),
  ]
  const detections = withoutAllowed(text, found, given.allow)
  const score = riskOf(detections)
  const removals = checks.has('invisible') ? invisible.removals : []
  const invisibleCuts = removals.map(([start, end]) => ({ start, end, replacement: '' }))
  const cuts = detections.flatMap(({ start, end, replacement }) =>
    replacement === undefined ? [] : [{ start, end, replacement }],
  )
  const blocked = score >= given.thresholds.block && source !== 'system'
  return {
    action: blocked ? 'block' : cuts.length > 0 ? 'redact' : 'allow',
    flagged: cuts.length > 0 || score >= given.thresholds.flag,
    score,
    detections,
    counts,
    ...(cuts.length > 0 && { redacted: cutOut(text, [...cuts, ...invisibleCuts]) }),
    ...(removals.length > 0 && { sanitized: cutOut(text, invisibleCuts) }),
    ...(explain && { parts: scoredParts(text, normalized, detections) }),
  }
}

/** A span to remove from a text, with its replacement. */
interface Cut {
  readonly start: number
  readonly end: number
  readonly replacement: string
}

/** Returns the text with all cuts applied. Of overlapping cuts, the first has precedence. */
function cutOut(text: string, cuts: readonly Cut[]): string {
  const sorted = cuts.toSorted((a, b) => a.start - b.start || b.end - a.end)
  let result = ''
  let done = 0
  for (const { start, end, replacement } of sorted) {
    if (end <= done) continue
    if (start >= done) result += text.slice(done, start) + replacement
    done = end
  }
  return result + text.slice(done)
}

// One occurrence of a canary is a leak; a list of all is not needed.
const MAX_PER_CANARY = 100
const MIN_NORMALIZED = 4
/** Shorter ones occur by chance across a line break: the/night. */
const MIN_BROKEN = 8
// Spans with all letters of a canary in order that are not the canary.
const MAX_TRIED = 100

/** A canary in its search forms. */
interface Canary {
  readonly given: string
  /** Normalized, on one line. */
  readonly line: string
  readonly letters: Letters
}

interface Letters {
  readonly text: string
  /** Position of each unit in the text with white space. */
  readonly places: readonly number[]
  /** The gap before each unit: one of those below. */
  readonly gaps: readonly number[]
}

const NO_GAP = 0
const BLANK = 1
/** A line break can stand for a space or for nothing. */
const LINE_BREAK = 2

/** Prepared once for all texts of a request. */
const prepareCanaries = (canaries: readonly string[]): Canary[] =>
  canaries.map((given) => {
    const line = oneLine(normalize(given).view.text)
    return { given, line, letters: lettersOf(line.trim()) }
  })

/**
 * Finds canaries in a text. Compared in normalized form: case, accents, look-alikes, line breaks,
 * invisible characters and encodings (`decoded`) do not hide one.
 */
function findCanaries(
  text: string,
  view: View,
  canaries: readonly Canary[],
  decoded: readonly View[] = [],
): Detection[] {
  if (canaries.length === 0) return []
  return [view, ...decoded].flatMap((form) => canariesIn(text, form, canaries))
}

function canariesIn(text: string, view: View, canaries: readonly Canary[]): Detection[] {
  const visible = oneLine(view.text)
  const letters = view.text.includes('\n') ? lettersOf(view.text) : null
  const found = ([start, end]: readonly [number, number]) =>
    leak(...originalSpan(view, start, end), view.name)
  return canaries.flatMap((canary) => {
    const { given, line } = canary
    // Without enough visible text, only exact characters can be searched for.
    if (line.trim().length < MIN_NORMALIZED) {
      if (view.name !== 'normalized') return []
      return placesOf(text, given).map((at) => leak(at, at + given.length, 'original'))
    }
    const places = placesOf(visible, line)
    if (places.length > 0 || !letters) return places.map((at) => found([at, at + line.length]))
    return brokenPlaces(letters, canary).map(found)
  })
}

/** A line break is equivalent to a space; both are one unit of a view. */
const oneLine = (text: string): string => text.replaceAll('\n', ' ')

function placesOf(text: string, wanted: string): number[] {
  const places: number[] = []
  let at = text.indexOf(wanted)
  while (at >= 0 && places.length < MAX_PER_CANARY) {
    places.push(at)
    at = text.indexOf(wanted, at + wanted.length)
  }
  return places
}

/** Returns the line breaks inside the words of a canary. */
function brokenPlaces(shown: Letters, { letters }: Canary): [number, number][] {
  const { length } = letters.text
  if (length < MIN_BROKEN) return []
  const places: [number, number][] = []
  let at = shown.text.indexOf(letters.text)
  for (let tried = 0; at >= 0 && tried < MAX_TRIED && places.length < MAX_PER_CANARY; tried++) {
    const isWhole = isSpacedAlike(shown, at, letters)
    if (isWhole) places.push([shown.places[at] ?? 0, (shown.places[at + length - 1] ?? 0) + 1])
    at = shown.text.indexOf(letters.text, at + (isWhole ? length : 1))
  }
  return places
}

/** Returns true if the spaces match those of the canary; a line break matches both. */
function isSpacedAlike(shown: Letters, at: number, { text, gaps }: Letters): boolean {
  for (let i = 1; i < text.length; i++) {
    const gap = shown.gaps[at + i]
    if (gap !== LINE_BREAK && gap !== gaps[i]) return false
  }
  return true
}

function lettersOf(text: string): Letters {
  const places: number[] = []
  const gaps: number[] = []
  let letters = ''
  let gap = NO_GAP
  for (let at = 0; at < text.length; at++) {
    const unit = text.charAt(at)
    if (unit === '\n') gap = LINE_BREAK
    else if (unit === ' ') gap = Math.max(gap, BLANK)
    else {
      letters += unit
      places.push(at)
      gaps.push(gap)
      gap = NO_GAP
    }
  }
  return { text: letters, places, gaps }
}

const leak = (start: number, end: number, view: ViewName): Detection => ({
  detector: view === 'normalized' || view === 'original' ? 'canary.plain' : 'canary.encoded',
  category: 'canary_leak',
  severity: 'critical',
  start,
  end,
  view,
  reason: 'canary:leak',
  risk: 1,
})
