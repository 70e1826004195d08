import type { Detection } from './detection.ts'

/**
 * Removes detections that the caller allows: by detector id, and within an allowed literal text,
 * compared exactly. Linear in the text for each of them.
 */
export function withoutAllowed(
  text: string,
  detections: readonly Detection[],
  allow: readonly string[],
): readonly Detection[] {
  if (allow.length === 0) return detections
  const allowed = new Set(allow)
  const rest = detections.filter(({ detector }) => !allowed.has(detector))
  if (rest.length === 0) return rest
  const reach = reachOf(text, allowed)
  return rest.filter(({ start, end }) => (reach[start] ?? 0) < end)
}

/**
 * Returns, for each position, how far the literals that start at or before it extend. A span that
 * starts there and ends by then is inside of one.
 */
function reachOf(text: string, literals: Iterable<string>): Uint32Array {
  const reach = new Uint32Array(text.length)
  for (const literal of literals) markPlaces(reach, text, literal)
  let farthest = 0
  for (let at = 0; at < reach.length; at++) {
    farthest = Math.max(farthest, reach[at] ?? 0)
    reach[at] = farthest
  }
  return reach
}

/**
 * Knuth-Morris-Pratt search, which examines each unit once or twice. `indexOf` restarts at every
 * position, and a repetitive text contains a literal nearly everywhere.
 */
function markPlaces(reach: Uint32Array, text: string, literal: string): void {
  if (literal.length > text.length) return
  const borders = bordersOf(literal)
  let matched = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    while (matched > 0 && literal.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0
    if (literal.charCodeAt(matched) === unit) matched++
    if (matched < literal.length) continue
    const start = at + 1 - matched
    reach[start] = Math.max(at + 1, reach[start] ?? 0)
    matched = borders[matched - 1] ?? 0
  }
}

/** Returns, for each prefix of a text, the length of its longest proper border. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length)
  let matched = 0
  for (let at = 1; at < text.length; at++) {
    while (matched > 0 && text[matched] !== text[at]) matched = borders[matched - 1] ?? 0
    if (text[matched] === text[at]) matched++
    borders[at] = matched
  }
  return borders
}
