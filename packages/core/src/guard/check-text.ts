import type { GuardAction } from '@remit/contract'
import { withoutAllowed } from './allow-list.ts'
import { findCanaries } from './canaries.ts'
import type { Canary } from './canaries.ts'
import type { CharacterKind } from './characters.ts'
import type { Detection } from './detection.ts'
import { riskOf } from './detection.ts'
import { findInjections } from './injection.ts'
import { findInvisible } from './invisible.ts'
import type { Model } from './model/model.ts'
import { normalize } from './normalize.ts'
import { opaqueSpans } from './opaque.ts'
import { findPersonalData } from './pii.ts'
import type { Reading, Thresholds } from './reading.ts'
import { viewsOf } from './views/views.ts'
import { cutOut } from './redact.ts'
import { scoredParts } from './scored-parts.ts'
import type { ScoredPart } from './scored-parts.ts'
import { findSecrets } from './secrets.ts'

/** Inputs of a request other than the texts. */
export interface CheckInputs {
  readonly thresholds: Thresholds
  readonly canaries: readonly Canary[]
  readonly allow: readonly string[]
  readonly explain: boolean
}

/** The result for one text. */
export interface TextVerdict {
  readonly action: GuardAction
  readonly flagged: boolean
  /** 0 to 1: probability of an attack or a leak. Excludes secrets and personal data. */
  readonly score: number
  readonly detections: readonly Detection[]
  readonly counts: ReadonlyMap<CharacterKind, number>
  readonly redacted?: string
  readonly sanitized?: string
  /** With `explain`. */
  readonly parts?: readonly ScoredPart[]
}

/** Checks one text. Pure; linear in the text. */
export function checkText(
  text: string,
  reading: Reading,
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
