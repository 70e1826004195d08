/** The transformation of a view; findings name it. */
export type ViewName =
  | 'original'
  | 'normalized'
  | 'hidden'
  | 'a1z26'
  | 'atbash'
  | 'base32'
  | 'base64'
  | 'binary'
  | 'braille'
  | 'caesar'
  | 'decimal'
  | 'doubled_letters'
  | 'escapes'
  | 'hex'
  | 'joined_words'
  | 'lines'
  | 'morse'
  | 'octal'
  | 'pig_latin'
  | 'reversed'
  | 'reversed_words'
  | 'rot47'
  | 'scrambled_letters'
  | 'separators'
  | 'spaced_letters'
  | 'tags_removed'
  | 'upside_down'

/**
 * A transformed form of the text, with positions: unit `i` of `text` comes from the UTF-16 units
 * `starts[i]` to `ends[i]` of the original.
 */
export interface View {
  readonly name: ViewName
  readonly text: string
  readonly starts: Uint32Array
  readonly ends: Uint32Array
}

/**
 * Returns the span of the original for a non-empty part of a view, which may have another order.
 */
export function originalSpan(view: View, start: number, end: number): [number, number] {
  let from = Infinity
  let to = 0
  for (let at = start; at < end; at++) {
    from = Math.min(from, view.starts[at] ?? 0)
    to = Math.max(to, view.ends[at] ?? 0)
  }
  return [from, to]
}

/** Composes two views, with positions in the original of the first. */
export function onTop(upper: View, lower: View): View {
  const { length } = upper.text
  const starts = new Uint32Array(length)
  const ends = new Uint32Array(length)
  for (let at = 0; at < length; at++) {
    const start = upper.starts[at] ?? 0
    const end = upper.ends[at] ?? 0
    // Most units correspond to one unit below.
    if (end - start === 1) {
      starts[at] = lower.starts[start] ?? 0
      ends[at] = lower.ends[start] ?? 0
    } else if (at > 0 && start === upper.starts[at - 1] && end === upper.ends[at - 1]) {
      starts[at] = starts[at - 1] ?? 0
      ends[at] = ends[at - 1] ?? 0
    } else {
      const [from, to] = originalSpan(lower, start, end)
      starts[at] = from
      ends[at] = to
    }
  }
  return { ...upper, starts, ends }
}
