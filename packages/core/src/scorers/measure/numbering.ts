/** Assigns a small number to each distinct text, so that comparisons are cheap. */
export class Numbering {
  readonly #numbers = new Map<string, number>()

  get size(): number {
    return this.#numbers.size
  }

  of(text: string): number {
    return numberOf(this.#numbers, text)
  }

  all(texts: readonly string[]): Int32Array {
    const known = this.#numbers
    const numbers = new Int32Array(texts.length)
    for (let at = 0; at < texts.length; at++) numbers[at] = numberOf(known, texts[at] ?? '')
    return numbers
  }
}

function numberOf(known: Map<string, number>, text: string): number {
  const number = known.get(text)
  if (number !== undefined) return number
  const next = known.size
  known.set(text, next)
  return next
}
