/** The frequencies of runs of `order` neighbors. */
export type Grams = ReadonlyMap<string, number>

/** Returns the n-grams of words, joined with blanks, which words do not contain. */
export function wordGrams(words: readonly string[], order: number): Grams {
  const grams = new Map<string, number>()
  for (let at = 0; at + order <= words.length; at++) {
    let gram = words[at] ?? ''
    for (let next = at + 1; next < at + order; next++) gram += ` ${words[next] ?? ''}`
    grams.set(gram, (grams.get(gram) ?? 0) + 1)
  }
  return grams
}

/** Returns the n-grams of characters: of code points, never of halves of a surrogate pair. */
export function characterGrams(text: string, order: number): Grams {
  const grams = new Map<string, number>()
  const starts = startsOf(text)
  for (let at = 0; at + order < starts.length; at++) {
    const gram = text.slice(starts[at], starts[at + order])
    grams.set(gram, (grams.get(gram) ?? 0) + 1)
  }
  return grams
}

/** Returns the start of each code point, and the end of the text. */
function startsOf(text: string): Int32Array {
  const starts = new Int32Array(text.length + 1)
  let count = 0
  for (let at = 0; at < text.length; at++) {
    starts[count++] = at
    if ((text.codePointAt(at) ?? 0) > 0xffff) at++
  }
  starts[count++] = text.length
  return starts.subarray(0, count)
}

/** Returns the number of occurrences. */
export function total(grams: Grams): number {
  let sum = 0
  for (const count of grams.values()) sum += count
  return sum
}

/** Returns the number of common occurrences: the lower count of both sides for each n-gram. */
export function overlap(a: Grams, b: Grams): number {
  const [fewer, more] = a.size <= b.size ? [a, b] : [b, a]
  let sum = 0
  for (const [gram, count] of fewer) {
    const other = more.get(gram)
    if (other !== undefined) sum += Math.min(count, other)
  }
  return sum
}

/** Returns the highest count of each n-gram among several texts. */
export function union(all: readonly Grams[]): Grams {
  const [first = new Map<string, number>(), ...others] = all
  if (others.length === 0) return first
  const most = new Map(first)
  for (const grams of others) {
    for (const [gram, count] of grams) most.set(gram, Math.max(count, most.get(gram) ?? 0))
  }
  return most
}
