// Up to this length the engine's own search needs at most this many steps per character.
const SHORT = 64

/**
 * Yields the positions of `needle` in a text, including overlapping ones, in linear time. The
 * built-in search is quadratic on texts like aaaa…, which a request could send a thousand times.
 */
export function* occurrences(text: string, needle: string): Generator<number> {
  if (needle === '') return
  if (needle.length > SHORT) {
    yield* linearSearch(text, needle)
    return
  }
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) yield at
}

/** Knuth-Morris-Pratt: the border table gives the matching prefix after a mismatch. */
function* linearSearch(text: string, needle: string): Generator<number> {
  const borders = bordersOf(needle)
  let matched = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0
    if (needle.charCodeAt(matched) === unit) matched++
    if (matched < needle.length) continue
    yield at - needle.length + 1
    matched = borders[matched - 1] ?? 0
  }
}

/** Returns, for each prefix, the length of its longest proper border. */
function bordersOf(needle: string): Uint32Array {
  const borders = new Uint32Array(needle.length)
  let border = 0
  for (let at = 1; at < needle.length; at++) {
    while (border > 0 && needle.charCodeAt(border) !== needle.charCodeAt(at)) {
      border = borders[border - 1] ?? 0
    }
    if (needle.charCodeAt(border) === needle.charCodeAt(at)) border++
    borders[at] = border
  }
  return borders
}
