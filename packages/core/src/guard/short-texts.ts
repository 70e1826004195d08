import type { Span } from './credential-spans.ts'
import { namesIn } from './hidden-words.ts'
import { PASSWORD_OR_KEY } from './named-secrets.ts'

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
export function spansOfShortText(text: string, secrets: readonly Span[]): Span[] {
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
