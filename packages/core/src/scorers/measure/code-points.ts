const SURROGATE = /[\ud800-\udfff]/

/** Returns true if the text has characters of two UTF-16 units. */
export const hasSurrogates = (text: string): boolean => SURROGATE.test(text)

/** Counts code points, not UTF-16 units. */
export function countCodePoints(text: string): number {
  let count = text.length
  for (let at = 0; at < text.length - 1; at++) {
    if (isPair(text, at)) {
      count--
      at++
    }
  }
  return count
}

/** Returns the code points of a text. */
export function codePointsOf(text: string): Int32Array {
  const points = new Int32Array(text.length)
  let length = 0
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at) ?? 0
    points[length++] = point
    if (point > 0xffff) at++
  }
  return points.subarray(0, length)
}

const isPair = (text: string, at: number): boolean =>
  (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00
