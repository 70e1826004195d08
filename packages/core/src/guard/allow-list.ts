import type { Detection } from './detection.ts'

/**
 * Leaves out what the caller allows: detectors by id, and whatever stands inside an allowed literal
 * text, compared exactly.
 */
export function withoutAllowed(
  text: string,
  detections: readonly Detection[],
  allow: readonly string[],
): readonly Detection[] {
  if (allow.length === 0) return detections
  const ids = new Set(allow)
  return detections.filter(
    (detection) =>
      !ids.has(detection.detector) && !allow.some((literal) => isInside(text, detection, literal)),
  )
}

/** Whether the literal stands in the text so that it holds all of the detection. */
function isInside(text: string, { start, end }: Detection, literal: string): boolean {
  if (end - start > literal.length) return false
  const found = text.slice(start, end)
  for (let at = literal.indexOf(found); at >= 0; at = literal.indexOf(found, at + 1)) {
    if (text.startsWith(literal, start - at) && start >= at) return true
  }
  return false
}
