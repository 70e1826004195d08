import { credentialSpans } from './credential-spans.ts'
import type { CredentialSpan, Span } from './credential-spans.ts'
import type { Detection } from './detection.ts'
import { isRandom } from './random.ts'
import type { View } from './view.ts'
import { namesIn } from './characters.ts'
import { PASSWORD_OR_KEY } from './named-secrets.ts'

// RFC 7468 and OpenPGP (RFC 9580); a closed list, so that no words hide in a label.
const LABEL =
  '(?: (?:BLOCK|CERTIFICATE|DSA|EC|ENCRYPTED|KEY|MESSAGE|OPENSSH|PGP|PRIVATE|PUBLIC|REQUEST|RSA|SIGNATURE)){1,4}'
/** Up to the end of the text if the block is truncated. */
const BLOCK = new RegExp(`-----BEGIN${LABEL}-----[^]*?(?:-----END${LABEL}-----|$)`, 'g')
const MARK_OR_LINE = new RegExp(
  String.raw`-----(?:BEGIN|END)${LABEL}-----|(?:\\{1,8}[rn]|\s){0,40}[A-Za-z0-9+/=]{16,}`,
  'g',
)

// Fields of WHOIS records (ICANN's labeling policy for registration data, section 1.4); closed, like the list above.
const CONTACT_FIELD =
  /^[ \t]*(?:Registrant|Admin(?:istrative)?|Tech(?:nical)?|Billing|Registrar Abuse)(?: Contact)? (?:Name|Organi[sz]ation|Street|City|State(?:\/Province)?|Postal Code|Country|(?:Phone|Fax)(?: Ext)?|E-?mail)[ \t]*:/gim

/** Few enough to be no instruction. */
const MAX_WORDS = 4
const PARTS = ['user', 'beside', 'query'] as const

/**
 * Returns spans that contain only a secret or the name of a field: the language model mistakes key blocks,
 * credentials, URLs and `Admin Email:` for instructions. Spans that could hide words are excluded: other lines of a block than the
 * random ones; and all users of URLs, all queries, or all that is beside secrets, if they have more than
 * four words together.
 */
export function opaqueSpans(text: string, secrets: readonly Detection[]): Span[] {
  const lines = Array.from(text.matchAll(BLOCK)).flatMap(({ 0: block, index }) =>
    randomLines(block, index),
  )
  const found = secrets.flatMap((secret) => credentialSpans(text, secret))
  const credentials = PARTS.flatMap((wanted) => withFewWords(found, wanted))
  const fields = Array.from(text.matchAll(CONTACT_FIELD), ({ 0: field, index }): Span => [
    index,
    index + field.length,
  ])
  const spans = [...lines, ...fields, ...credentials.map(({ span }) => span)]
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

const URL = String.raw`(?:[\w.-]{1,64}=["']?)?[a-z][a-z0-9+.-]{1,20}://[^\s"'<>\x60?#{}]+`
/** With one word. */
const SETTING = String.raw`[\w.-]{0,64}(?:${PASSWORD_OR_KEY})=["']?[a-z0-9]{4,64}`
const URL_OR_SETTING = new RegExp(`${URL}|${SETTING}`, 'gi')
const SCHEME_OR_CREDENTIAL = new RegExp(
  String.raw`[a-z][a-z0-9+.-]{1,20}://|${PASSWORD_OR_KEY}`,
  'gi',
)
/** Without letters, and without brackets, which would be markup. */
const SIGNS = String.raw`[\s"'\x60,;:.=-]*`
const NOTHING_ELSE = new RegExp(`^${SIGNS}$`)
const ONE_WORD = new RegExp(`^${SIGNS}(?:[a-z]{1,20}${SIGNS})?$`, 'i')
const MAX_LENGTH = 1_000
const MAX_NAMES = 2

/**
 * Returns the spans of a text of hardly any words that are no instruction: one word beside secrets, or
 * nothing but a URL or setting of two names. Alone, `system` is an instruction to the language model;
 * between other words it is not.
 */
function spansOfShortText(text: string, secrets: readonly Span[]): Span[] {
  if (text.length > MAX_LENGTH || (secrets.length === 0 && !/:\/\/|=/.test(text))) return []
  const rest = without(text, secrets)
  if (secrets.length > 0 && ONE_WORD.test(rest)) return [[0, text.length]]
  if (namesIn(rest.replace(SCHEME_OR_CREDENTIAL, ' ')).length > MAX_NAMES) return []
  const spans = Array.from(rest.matchAll(URL_OR_SETTING), ({ 0: match, index }): Span => [
    index,
    index + match.length,
  ])
  return NOTHING_ELSE.test(without(rest, spans)) ? spans : []
}

/** Returns the text with blanks in place of spans. */
function without(text: string, spans: readonly Span[]): string {
  let rest = text
  for (const [start, end] of spans)
    rest = rest.slice(0, start) + ' '.repeat(end - start) + rest.slice(end)
  return rest
}
