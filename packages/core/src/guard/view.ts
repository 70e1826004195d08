/**
 * A form of the text that detectors read, with the way back: unit `i` of `text` comes from the
 * original's UTF-16 units `starts[i]` up to `ends[i]`.
 */
export interface View {
  readonly name: 'original' | 'normalized' | 'hidden'
  readonly text: string
  readonly starts: Uint32Array
  readonly ends: Uint32Array
}

/** Where a non-empty part of a view stands in the original. */
export function originalSpan(view: View, start: number, end: number): [number, number] {
  return [view.starts[start] ?? 0, view.ends[end - 1] ?? 0]
}

/** A view of a view, with the way back to the original of the first. */
export function onTop(upper: View, lower: View): View {
  return {
    ...upper,
    starts: upper.starts.map((unit) => lower.starts[unit] ?? 0),
    ends: upper.ends.map((unit) => lower.ends[unit - 1] ?? 0),
  }
}
