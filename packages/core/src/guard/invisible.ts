import { invisibleKind } from './characters.ts'
import type { Detection } from './detection.ts'
import type { View } from './view.ts'

export interface Invisible {
  /** Runs that hide text. */
  readonly detections: readonly Detection[]
  /** Spans to remove: [start, end) in the original. */
  readonly removals: readonly (readonly [start: number, end: number])[]
  /** The text of tag characters, if any. */
  readonly hidden: View | null
}

const NOTHING: Invisible = { detections: [], removals: [], hidden: null }
const BEYOND_ASCII = /[^\t\n\r -~]/
// A flag of a region: black flag, its letters as tags, and the closing tag. The only regular use of
// tags.
const FLAG = /\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}/uy
// One or two of these shape Persian, Indic, emoji and bidirectional text.
const SHAPING = new Set([0xad, 0x34f, 0x61c, 0x200c, 0x200d, 0x200e, 0x200f])
const MAX_SHAPING = 3

/** Finds text that a reader does not see but a model may read. Linear. */
export function findInvisible(text: string): Invisible {
  if (!BEYOND_ASCII.test(text)) return NOTHING
  const detections: Detection[] = []
  const removals: [number, number][] = []
  const tags = new TagReader()
  for (let at = 0; at < text.length; at++) {
    const code = text.codePointAt(at) ?? 0
    if (code === 0x1f3f4) {
      FLAG.lastIndex = at
      if (FLAG.test(text)) at = FLAG.lastIndex - 1
      continue
    }
    if (!isInvisible(code)) continue
    const run = readRun(text, at)
    at = run.end - 1
    if (run.harmless) continue
    removals.push([run.start, run.end])
    const detection = judge(run, tags.read(text, run.start, run.end))
    if (detection) detections.push(detection)
  }
  return { detections, removals, hidden: tags.view() }
}

/** White space and ordinary control characters do not count as hidden. */
function isInvisible(code: number): boolean {
  const kind = invisibleKind(code)
  return kind !== undefined && kind !== 'control'
}

interface Run {
  readonly start: number
  readonly end: number
  readonly length: number
  readonly tags: number
  readonly selectors: number
  readonly overrides: number
  readonly harmless: boolean
}

function readRun(text: string, start: number): Run {
  let end = start
  let length = 0
  let tags = 0
  let selectors = 0
  let overrides = 0
  let shaping = 0
  while (end < text.length) {
    const code = text.codePointAt(end) ?? 0
    if (!isInvisible(code)) break
    end += code > 0xffff ? 2 : 1
    length++
    if (code >= 0xe0000 && code <= 0xe007f) tags++
    else if (code >= 0xe0100) selectors++
    else if (code === 0x202d || code === 0x202e) overrides++
    else if (SHAPING.has(code) || (code >= 0xfe00 && code <= 0xfe0f)) shaping++
  }
  // An ideographic variation is one selector after its character.
  const harmless = shaping + Math.min(selectors, 1) === length && length <= MAX_SHAPING
  return { start, end, length, tags, selectors, overrides, harmless }
}

const MIN_HIDDEN = 4

function judge(run: Run, decoded: string): Detection | undefined {
  const { start, end } = run
  const found = (kind: string, severity: Detection['severity'], risk: number): Detection => ({
    detector: `invisible.${kind}`,
    category: 'hidden_text',
    severity,
    start,
    end,
    view: 'original',
    reason: `invisible:${kind}`,
    risk,
    replacement: '',
    ...(decoded !== '' && { decoded: decoded.slice(0, 500) }),
  })
  if (run.tags > 0) return found('tag_characters', 'high', decoded.length < MIN_HIDDEN ? 0.3 : 0.6)
  if (run.selectors >= MIN_HIDDEN) return found('variation_selectors', 'medium', 0.5)
  if (run.overrides > 0) return found('bidi_override', 'medium', 0.2)
  if (run.length >= 2 * MIN_HIDDEN) return found('zero_width_run', 'medium', 0.3)
  return undefined
}

/** Collects the text of tag characters: U+E0020 to U+E007E mirror ASCII. */
class TagReader {
  #text = ''
  readonly #starts: number[] = []
  readonly #ends: number[] = []

  read(text: string, start: number, end: number): string {
    const before = this.#text.length
    for (let at = start; at < end; at++) {
      const code = text.codePointAt(at) ?? 0
      if (code < 0x10000) continue
      if (code >= 0xe0020 && code <= 0xe007e) this.#add(code - 0xe0000, at)
      at++
    }
    return this.#text.slice(before)
  }

  #add(ascii: number, at: number): void {
    this.#text += String.fromCharCode(ascii)
    this.#starts.push(at)
    this.#ends.push(at + 2)
  }

  view(): View | null {
    if (this.#text === '') return null
    const { text, starts, ends } = { text: this.#text, starts: this.#starts, ends: this.#ends }
    return { name: 'hidden', text, starts: Uint32Array.from(starts), ends: Uint32Array.from(ends) }
  }
}
