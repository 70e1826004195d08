import type { Detection } from './detection.ts'
import { entropyOf, restlessness } from './random.ts'
import type { View } from './view.ts'

const PEM =
  /^-----BEGIN [A-Z0-9 ]{0,60}-----(?:[\r\n]|\\[rn]){0,4}(?:[A-Za-z-]{1,20}: [\w,-]{1,80}(?:[\r\n]|\\[rn]){1,4}){0,3}([A-Za-z0-9+/=\r\n\\]+)-----END [A-Z0-9 ]{1,60}-----$/
const MIN_PEM_ENTROPY = 4
const MIN_RESTLESSNESS = 0.2
/** The scheme and user name before the password of a URL. */
const URL_BEGINNING = /[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:/?#@"'<>]{0,64}:$/i
const MAX_BEGINNING = 100
const WORD = /\p{L}{4,}/gu
const MAX_WORDS = 2

/** A span with a secret and no other text: [start, end). */
export type Span = readonly [start: number, end: number]

/**
 * Returns spans that contain only a secret: the language model mistakes key blocks and credentials
 * in URLs for instructions. Spans that could hide words are excluded: a block whose body is not
 * random, and a user and password of more than two words.
 */
export const opaqueSpans = (text: string, secrets: readonly Detection[]): Span[] =>
  secrets.flatMap(({ detector, start, end }): Span[] => {
    if (detector === 'secret.private_key')
      return isKeyBlock(text.slice(start, end)) ? [[start, end]] : []
    if (detector !== 'secret.password_in_url') return []
    const beginning =
      URL_BEGINNING.exec(text.slice(Math.max(0, start - MAX_BEGINNING), start))?.[0] ?? ''
    const from = start - beginning.length
    const userinfo = text.slice(from + beginning.indexOf('://'), end)
    return (userinfo.match(WORD)?.length ?? 0) <= MAX_WORDS ? [[from, end + 1]] : []
  })

function isKeyBlock(block: string): boolean {
  const body = PEM.exec(block)?.[1]?.replaceAll(/[\r\n\\]+/g, '') ?? ''
  return entropyOf(body) >= MIN_PEM_ENTROPY && restlessness(body) >= MIN_RESTLESSNESS
}

/** Returns the view with blanks in place of spans of the original. Spans can be in any order. */
export function blanked(view: View, spans: readonly Span[]): View {
  if (spans.length === 0) return view
  const sorted = spans.toSorted(([a], [b]) => a - b)
  let text = ''
  let done = 0
  for (const [start, end] of sorted) {
    const from = Math.max(done, firstFrom(view.starts, start))
    const to = Math.max(from, firstFrom(view.starts, end))
    text += view.text.slice(done, from) + ' '.repeat(to - from)
    done = to
  }
  return { ...view, text: text + view.text.slice(done) }
}

/** Returns the first unit of a view at or after this position of the original; positions ascend. */
function firstFrom(starts: Uint32Array, place: number): number {
  let low = 0
  let high = starts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((starts[middle] ?? 0) < place) low = middle + 1
    else high = middle
  }
  return low
}
