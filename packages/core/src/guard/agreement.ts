import type { Detection } from './detection.ts'

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
