import { toMicroUsd } from '@remit/contract/values'

const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const COMMA = 44
const N = 110
const POINT = 46

/**
 * Scans canonical JSON (RFC 8785) without creating objects: no white space, one spelling of names.
 * Unexpected input sets `failed`, and values read before are then invalid. It checks the layout
 * only, not that the text is valid JSON.
 */
export class JsonScanner {
  readonly text: string
  at: number
  failed = false
  /** One search over the whole text avoids one per string. */
  readonly #hasEscapes: boolean

  constructor(text: string, at = 0) {
    this.text = text
    this.at = at
    this.#hasEscapes = text.includes('\\')
  }

  /** The character at an offset. */
  char(after = 0): number {
    return this.text.charCodeAt(this.at + after)
  }

  /** Skips a text if it is next; returns whether it was. */
  takes(literal: string): boolean {
    if (!this.text.startsWith(literal, this.at)) return false
    this.at += literal.length
    return true
  }

  /** Skips a text that must be next. */
  expect(literal: string): void {
    if (!this.takes(literal)) this.failed = true
  }

  get isAtString(): boolean {
    return this.text.charCodeAt(this.at) === QUOTE
  }

  textOrNull(): string | null {
    if (this.text.charCodeAt(this.at) !== N) return this.string()
    this.expect('null')
    return null
  }

  string(): string {
    const start = this.at + 1
    this.skipString()
    if (this.failed) return ''
    const raw = this.text.slice(start, this.at - 1)
    return this.#hasEscapes && raw.includes('\\') ? this.#unescape(raw) : raw
  }

  #unescape(raw: string): string {
    try {
      return JSON.parse(`"${raw}"`) as string
    } catch {
      this.failed = true
      return ''
    }
  }

  /** Reads a JSON number. */
  number(): number {
    const start = this.at
    this.#skipPlain()
    const value = Number(this.text.slice(start, this.at))
    if (this.at === start || !Number.isFinite(value)) this.failed = true
    return value
  }

  /** Reads a number that is usually an integer. */
  whole(): number {
    const start = this.at
    const value = this.#digits()
    const end = this.char()
    if (this.at - start <= 15 && this.at > start && (end === COMMA || end === CLOSE_BRACE))
      return value
    this.at = start
    return this.number()
  }

  /** Reads US dollars as integer micro-USD, digit by digit if they are written out. */
  micro(): number {
    const start = this.at
    let whole = this.#digits()
    for (let place = 0; place < 6; place++) whole *= 10
    if (this.char() === POINT) {
      this.at += 1
      const from = this.at
      const decimals = this.#digits()
      const places = this.at - from
      if (places > 6) return this.#otherMicro(start)
      let scaled = decimals
      for (let place = places; place < 6; place++) scaled *= 10
      whole += scaled
    }
    const end = this.char()
    return this.at - start <= 16 && this.at > start && (end === COMMA || end === CLOSE_BRACE)
      ? whole
      : this.#otherMicro(start)
  }

  #otherMicro(start: number): number {
    this.at = start
    return toMicroUsd(this.number())
  }

  #digits(): number {
    const { text } = this
    let value = 0
    for (let char = text.charCodeAt(this.at); char >= 48 && char <= 57;) {
      value = value * 10 + (char - 48)
      char = text.charCodeAt(++this.at)
    }
    return value
  }

  /** Skips any value. */
  skip(): void {
    const char = this.text.charCodeAt(this.at)
    if (char === QUOTE) this.skipString()
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) this.#skipNested()
    else this.#skipPlain()
  }

  /** Reads the next member name of an object, after `{` or a member; null at its end. */
  name(): string | null {
    if (this.text.charCodeAt(this.at) === COMMA) this.at += 1
    else if (this.takes('}')) return null
    const name = this.string()
    this.expect(':')
    return this.failed ? null : name
  }

  skipString(): void {
    const { text } = this
    let end = text.indexOf('"', this.at + 1)
    if (this.#hasEscapes)
      while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
    if (end === -1 || text.charCodeAt(this.at) !== QUOTE) this.failed = true
    else this.at = end + 1
  }

  #skipNested(): void {
    const { text } = this
    let depth = 0
    while (this.at < text.length) {
      const char = text.charCodeAt(this.at)
      if (char === QUOTE) {
        this.skipString()
        if (this.failed) return
        continue
      }
      this.at += 1
      if (char === OPEN_BRACE || char === OPEN_BRACKET) depth += 1
      else if ((char === CLOSE_BRACE || char === CLOSE_BRACKET) && --depth === 0) return
    }
    this.failed = true
  }

  /** A number, `true`, `false` or `null`. */
  #skipPlain(): void {
    const { text } = this
    while (this.at < text.length) {
      const char = text.charCodeAt(this.at)
      if (char === COMMA || char === CLOSE_BRACE || char === CLOSE_BRACKET) return
      this.at += 1
    }
    this.failed = true
  }
}

/** Returns whether the quote at `at` is escaped: an odd number of backslashes precedes it. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text.charCodeAt(before) === BACKSLASH) before -= 1
  return (at - before) % 2 === 0
}
