import type { GuardSource } from '@remit/contract'
import type { Detection } from './detection.ts'
import { categoryOfJudgement } from './model/model.ts'
import type { JudgedText, Judgement, Model, Standing } from './model/model.ts'
import { normalize } from './normalize.ts'
import { blanked } from './opaque.ts'
import type { Span } from './credential-spans.ts'
import { findHits, indexSignatures } from './signature.ts'
import type { Hit } from './signature.ts'
import { signatureIndex, signatures } from './signatures.ts'
import { onTop, originalSpan } from './view.ts'
import type { View } from './view.ts'
import { readLeet } from './views/disguises.ts'
import { viewsOf } from './views/views.ts'

// A model that quotes an attack is not attacking; one that builds a leaking link is.
const onOutput = indexSignatures(
  signatures.filter(({ category }) => category === 'data_exfiltration'),
)

// Hidden text is suspicious; hidden text with instructions is certain.
const HIDDEN_ORDER = 0.95
const FLAGGED = 0.5
const MAX_DECODED = 500
// Units of these views are in the order of the original.
const IN_ORDER: ReadonlySet<View['name']> = new Set(['original', 'normalized', 'separators'])
const PLAIN: ReadonlySet<View['name']> = new Set(['original', 'normalized'])

/** A text in its original and normalized form, with its hidden text. */
interface Forms {
  readonly text: string
  readonly normalized: View
  readonly hidden: View | null
  /** Spans with a secret or a URL only, which the model does not read. */
  readonly opaque?: readonly Span[]
}

interface HowToRead {
  readonly source: GuardSource
  readonly direction: 'input' | 'output'
  readonly explain: boolean
}

/** A view of the text with its detections. */
interface ReadView {
  readonly view: View
  readonly hits: readonly Hit[]
  readonly judgements: readonly Judgement[]
}

/** Returns the detections of signatures and model in a text and in its decoded views. */
export function findInjections(forms: Forms, how: HowToRead, model: Model): Detection[] {
  const read = readViews(forms, how, model)
  const judged = read.flatMap(({ view, hits, judgements }) =>
    judgements.map((judgement) => ofJudgement(judgement, view, hits, how.source)),
  )
  const seen = new Set<string>()
  const signed = read
    .flatMap(({ view, hits }) => hits.map((hit) => ofHit(hit, view)))
    .filter(({ detector, start }) => {
      // The same words are often read in several forms.
      const key = `${detector} ${start}`
      return !seen.has(key) && seen.add(key)
    })
  const isDocument = how.source === 'document' || how.source === 'tool'
  return [...withAgreement(signed, judged, forms.text.length, isDocument), ...judged]
}

/** Returns every view of the text with its detections. */
export function readViews(forms: Forms, how: HowToRead, model: Model): ReadView[] {
  const { text, normalized, hidden, opaque = [] } = forms
  const read = (form: View, source = how.source, standing?: Standing): ReadView & JudgedText => {
    const view = model.typos.read(form)
    const hits = findHits(view.text, signatureIndex, source)
    const judged = IN_ORDER.has(view.name) ? blanked(view, opaque) : view
    return { view, hits, ...model.judge(judged, source, hits, how.explain, standing) }
  }
  if (how.direction === 'output') {
    const hits = findHits(normalized.text, onOutput, how.source)
    return [{ view: normalized, hits, judgements: [] }]
  }
  const letters = readLeet(normalized, model.vocabulary).view
  const plain = read(letters)
  return [
    plain,
    ...viewsOf(text, letters, model.vocabulary).map((view) =>
      read(view, how.source, plain.standing),
    ),
    // Nobody hides a text for the user to read: it is read as strictly as a document.
    ...(hidden ? hiddenViews(hidden, model).map((view) => read(view, 'document')) : []),
  ]
}

function hiddenViews(hidden: View, model: Model): View[] {
  const { view } = readLeet(normalize(hidden.text).view, model.vocabulary)
  const further = viewsOf(hidden.text, view, model.vocabulary)
  return [view, ...further].map((form) => ({ ...onTop(form, hidden), name: 'hidden' as const }))
}

function ofHit({ signature, start, end }: Hit, view: View): Detection {
  const { id, category, weight } = signature
  const isHidden = view.name === 'hidden'
  return {
    detector: id,
    category,
    severity: isHidden ? 'critical' : weight >= 0.8 ? 'high' : 'medium',
    ...placeIn(view, start, end),
    reason: `injection:${category}`,
    risk: isHidden ? Math.max(weight, HIDDEN_ORDER) : weight,
  }
}

function ofJudgement(
  judgement: Judgement,
  view: View,
  hits: readonly Hit[],
  source: GuardSource,
): Detection {
  const { head, start, end, terms } = judgement
  const isHiddenOrder = view.name === 'hidden' && judgement.score >= FLAGGED
  const score = isHiddenOrder ? Math.max(judgement.score, HIDDEN_ORDER) : judgement.score
  const category = categoryOfJudgement(judgement, view, hits, source)
  return {
    detector: `model.${head}`,
    category,
    severity: score >= 0.8 ? 'high' : score >= 0.5 ? 'medium' : 'low',
    ...placeIn(view, start, end),
    reason: `injection:${category}`,
    risk: score,
    terms,
  }
}

function placeIn(
  view: View,
  start: number,
  end: number,
): Pick<Detection, 'start' | 'end' | 'view' | 'decoded'> {
  const [originalStart, originalEnd] = originalSpan(view, start, end)
  return {
    start: originalStart,
    end: originalEnd,
    view: view.name,
    ...(!PLAIN.has(view.name) && {
      decoded: view.text.slice(start, Math.min(end, start + MAX_DECODED)),
    }),
  }
}

/** In a longer document, the words of some attack are likely to stand somewhere by chance. */
const LONG = 2_000
/** So far from a signature, in UTF-16 units and about, the model may see what the signature sees. */
const NEAR = 200
/** From this score on the model agrees. */
const AGREES = 0.3
const FLAGS = 0.5
/** The highest risk of a signature that the model does not agree with, in a longer document. */
const UNSUPPORTED = 0.05

/**
 * Returns the findings of signatures with the risk that remains: where the model does not flag as well, a
 * signature does not block, and in a longer document it flags only where the model agrees.
 */
export function withAgreement(
  signed: readonly Detection[],
  judged: readonly Detection[],
  length: number,
  isDocument: boolean,
): Detection[] {
  const scores = scoresAlong(judged, length)
  return signed.map((detection) => {
    const { start, end, severity, risk = 0, view } = detection
    // Hidden text needs no second witness.
    if (view === 'hidden') return detection
    const score = Math.max(scores[slotOf(start)] ?? 0, scores[slotOf(end)] ?? 0)
    if (score >= FLAGS) return detection
    if (isDocument && length > LONG && score < AGREES)
      return { ...detection, risk: Math.min(risk, UNSUPPORTED), severity: 'low' as const }
    return { ...detection, alone: true, severity: severity === 'high' ? 'medium' : severity }
  })
}

const slotOf = (place: number): number => Math.floor(place / NEAR)

/** For every 200 units of the text, the highest score of a stretch in or near them. */
function scoresAlong(judged: readonly Detection[], length: number): Float64Array {
  const scores = new Float64Array(slotOf(length) + 1)
  for (const { start, end, risk = 0 } of judged) {
    const last = Math.min(scores.length - 1, slotOf(end) + 1)
    for (let slot = Math.max(0, slotOf(start) - 1); slot <= last; slot++)
      scores[slot] = Math.max(scores[slot] ?? 0, risk)
  }
  return scores
}
