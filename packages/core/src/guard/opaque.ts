import { credentialSpans } from './credential-spans.ts'
import type { CredentialSpan, Span } from './credential-spans.ts'
import type { Detection } from './detection.ts'
import { isRandom } from './random.ts'
import { spansOfShortText } from './short-texts.ts'
import type { View } from './view.ts'

// RFC 7468 and OpenPGP (RFC 9580); a closed list, so that no words hide in a label.
const LABEL =
  '(?: (?:BLOCK|CERTIFICATE|DSA|EC|ENCRYPTED|KEY|MESSAGE|OPENSSH|PGP|PRIVATE|PUBLIC|REQUEST|RSA|SIGNATURE)){1,4}'
/** Up to the end of the text if the block is truncated. */
const BLOCK = new RegExp(`-----BEGIN${LABEL}-----[^]*?(?:-----END${LABEL}-----|$)`, 'g')
const MARK_OR_LINE = new RegExp(
  String.raw`-----(?:BEGIN|END)${LABEL}-----|(?:\\{1,8}[rn]|\s){0,40}[A-Za-z0-9+/=]{16,}`,
  'g',
)

/** Few enough to be no instruction. */
const MAX_WORDS = 4
const PARTS = ['user', 'beside', 'query'] as const

/**
 * Returns spans that contain only a secret: the language model mistakes key blocks, credentials and
 * URLs for instructions. Spans that could hide words are excluded: other lines of a block than the
 * random ones; and all users of URLs, all queries, or all that is beside secrets, if they have more than
 * four words together.
 */
export function opaqueSpans(text: string, secrets: readonly Detection[]): Span[] {
  const lines = Array.from(text.matchAll(BLOCK)).flatMap(({ 0: block, index }) =>
    randomLines(block, index),
  )
  const found = secrets.flatMap((secret) => credentialSpans(text, secret))
  const credentials = PARTS.flatMap((wanted) => withFewWords(found, wanted))
  const spans = [...lines, ...credentials.map(({ span }) => span)]
  return [...spans, ...spansOfShortText(text, spans)]
}

/** All spans of a kind if they have few words together, otherwise those without any. */
function withFewWords(
  found: readonly CredentialSpan[],
  wanted: CredentialSpan['part'],
): readonly CredentialSpan[] {
  const spans = found.filter(({ part }) => part === wanted)
  const isFew = new Set(spans.flatMap(({ words }) => words)).size <= MAX_WORDS
  return isFew ? spans : spans.filter(({ words }) => words.length === 0)
}

const randomLines = (block: string, from: number): Span[] =>
  Array.from(block.matchAll(MARK_OR_LINE))
    .filter(([line]) => line.startsWith('-') || isRandom(line))
    .map(({ 0: line, index }) => [from + index, from + index + line.length])

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
