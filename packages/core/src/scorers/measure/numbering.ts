/** Gives each distinct text a small number, so that comparing them is comparing numbers. */
export class Numbering {
  readonly #numbers = new Map<string, number>()

  get size(): number {
    return this.#numbers.size
  }

  of(text: string): number {
    let number = this.#numbers.get(text)
    if (number === undefined) {
      number = this.#numbers.size
      this.#numbers.set(text, number)
    }
    return number
  }

  all(texts: readonly string[]): Int32Array {
    const numbers = new Int32Array(texts.length)
    for (let at = 0; at < texts.length; at++) numbers[at] = this.of(texts[at] ?? '')
    return numbers
  }
}
