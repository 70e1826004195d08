// Up to here the engine's own search costs at most this many steps per character.
const SHORT = 64

/**
 * The positions of a text where `needle` starts, overlapping ones too, in time linear in both.
 * The built-in search is quadratic on texts like aaaa…, which a request could send a thousand times.
 */
export function* occurrences(text: string, needle: string): Generator<number> {
  if (needle === '') return
  if (needle.length > SHORT) {
    yield* linearSearch(text, needle)
    return
  }
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) yield at
}

/** Knuth, Morris, Pratt: how much of the needle still stands after a mismatch is known before. */
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

/** For each prefix, the length of its longest proper prefix that is also its end. */
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
