import { invisibleKind, latinLookAlike } from './characters.ts'
import type { CharacterKind } from './characters.ts'
import { foldCharacter } from './fold.ts'
import type { Folded } from './fold.ts'
import type { View } from './view.ts'

/** A normalized text, and the number of changes by kind. */
export interface Normalized {
  readonly view: View
  readonly counts: ReadonlyMap<CharacterKind, number>
}

const SPACE = 0x20
const NEWLINE = 0x0a
const UNDERSCORE = 0x5f
// Maximum expansion per UTF-16 unit: a ligature of 18 letters must not multiply the work of every
// detector.
const GROWTH = 3
const BEYOND_ASCII = /[^\0-\x7f]/

/**
 * Normalizes a text for the signatures in one pass: lower case without accents, styled letters and
 * look-alikes as plain ones, no invisible characters, every run of white space as one space, or one
 * newline if it contains one. Time and memory are linear in the text.
 */
export function normalize(text: string): Normalized {
  const writer = new Writer(BEYOND_ASCII.test(text) ? text.length * GROWTH : text.length)
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x80) {
      writer.ascii(unit, at)
      continue
    }
    const code = text.codePointAt(at) ?? unit
    const width = code > 0xffff ? 2 : 1
    writer.other(code, at, at + width)
    at += width - 1
  }
  writer.readLookAlikes()
  return { view: writer.view(), counts: writer.counts }
}

class Writer {
  readonly counts = new Map<CharacterKind, number>()
  readonly #units: Uint16Array
  readonly #starts: Uint32Array
  readonly #ends: Uint32Array
  #length = 0
  /** True if a letter may be a look-alike of a Latin one. */
  #foreign = false

  constructor(most: number) {
    this.#units = new Uint16Array(most)
    this.#starts = new Uint32Array(most)
    this.#ends = new Uint32Array(most)
  }

  ascii(unit: number, at: number): void {
    if (unit >= 0x41 && unit <= 0x5a) this.#push(unit + 0x20, at, at + 1)
    else if (unit === SPACE || unit === UNDERSCORE) this.#space(SPACE, at, at + 1)
    else if (unit >= 0x09 && unit <= 0x0d) this.#space(unit === 0x09 ? SPACE : NEWLINE, at, at + 1)
    else if (unit < 0x20 || unit === 0x7f) this.#count('control')
    else this.#push(unit, at, at + 1)
  }

  /** Handles one code point beyond ASCII at `start` to `end`. */
  other(code: number, start: number, end: number): void {
    // Most Chinese, Japanese and Korean text is unchanged.
    if ((code >= 0x3041 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7a3)) {
      if (code !== 0x3164) return this.#push(code, start, end)
    }
    if (code === 0x85 || code === 0x2028 || code === 0x2029) return this.#space(NEWLINE, start, end)
    const kind = invisibleKind(code)
    if (kind) return this.#count(kind)
    const character = String.fromCodePoint(code)
    const folded = fold(character)
    if (folded.text === '') return this.#count('combining_mark')
    if (folded.text.trim() === '') return this.#space(SPACE, start, end)
    if (folded.styled) this.#count('compatibility')
    const read = folded.text.length <= GROWTH * (end - start) ? folded.text : character
    for (let at = 0; at < read.length; at++) {
      const unit = read.charCodeAt(at)
      this.#foreign ||= latinLookAlike(unit) > 0
      if (unit === SPACE) this.#space(unit, start, end)
      else this.#push(unit, start, end)
    }
  }

  /** Replaces foreign look-alikes in words that also contain Latin letters. */
  readLookAlikes(): void {
    if (!this.#foreign) return
    for (let at = 0; at < this.#length; at++) {
      const start = at
      let latin = false
      let foreign = 0
      for (; at < this.#length; at++) {
        const unit = this.#units[at] ?? 0
        if (unit >= 0x61 && unit <= 0x7a) latin = true
        else if (latinLookAlike(unit) > 0) foreign++
        else break
      }
      if (!latin || foreign === 0) continue
      this.#count('confusable', foreign)
      for (let i = start; i < at; i++) {
        const unit = this.#units[i] ?? 0
        this.#units[i] = latinLookAlike(unit) || unit
      }
    }
  }

  view(): View {
    const bytes = Buffer.from(this.#units.buffer, 0, this.#length * 2)
    return {
      name: 'normalized',
      text: bytes.toString('utf16le'),
      starts: this.#starts.subarray(0, this.#length),
      ends: this.#ends.subarray(0, this.#length),
    }
  }

  #push(unit: number, start: number, end: number): void {
    this.#units[this.#length] = unit
    this.#starts[this.#length] = start
    this.#ends[this.#length] = end
    this.#length++
  }

  #space(unit: number, start: number, end: number): void {
    const last = this.#length - 1
    const before = this.#units[last]
    if (before !== SPACE && before !== NEWLINE) return this.#push(unit, start, end)
    if (unit === NEWLINE) this.#units[last] = NEWLINE
    this.#ends[last] = end
  }

  #count(kind: CharacterKind, by = 1): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + by)
  }
}

// Folding uses several Unicode lookups per character, and characters repeat.
const known = new Map<string, Folded>()
const MAX_KNOWN = 10_000

function fold(character: string): Folded {
  const found = known.get(character)
  if (found) return found
  const folded = foldCharacter(character)
  if (known.size < MAX_KNOWN) known.set(character, folded)
  return folded
}
