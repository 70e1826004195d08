import { parseJson } from '@remit/contract/json'
import {
  findPersonalData as findSpans,
  findUrlPasswords,
  withoutOverlaps,
  PASSWORD_IN_URL,
} from '../personal-data/personal-data.ts'
import type { Span } from './credential-spans.ts'
import type { Detection } from './detection.ts'
import { GENERIC_SECRETS, NAMES_OF_SECRETS, SEPARATOR } from './named-secrets.ts'

/** A key format of one vendor: its name and the whole key as a regular expression. */
interface KeyFormat {
  readonly kind: string
  readonly form: string
}

/**
 * Keys with a distinctive format, as documented by vendors or secret scanners. Each has a
 * distinctive prefix; a key of no fixed length has no maximum, so that its end is not left behind.
 */
const KEY_FORMATS: readonly KeyFormat[] = [
  { kind: 'aws_access_key_id', form: '(?:AKIA|ASIA)[A-Z0-9]{16}' },
  { kind: 'github_token', form: 'gh[oprsu]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}' },
  { kind: 'gitlab_token', form: 'gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-[\\w-]{20,}' },
  { kind: 'anthropic_key', form: 'sk-ant-[a-z]{3,5}\\d{2}-[\\w-]{60,}' },
  {
    kind: 'openai_key',
    form: 'sk-(?:proj|svcacct|admin)-[\\w-]{40,}|sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}',
  },
  { kind: 'openrouter_key', form: 'sk-or-v1-[0-9a-f]{64}' },
  { kind: 'google_api_key', form: 'AIza[\\w-]{35}' },
  { kind: 'google_oauth_token', form: 'ya29\\.[\\w-]{30,}|GOCSPX-[\\w-]{28}' },
  { kind: 'huggingface_token', form: 'hf_[A-Za-z]{34}' },
  { kind: 'groq_key', form: 'gsk_[A-Za-z0-9]{52}' },
  { kind: 'xai_key', form: 'xai-[A-Za-z0-9]{80}' },
  { kind: 'replicate_token', form: 'r8_[A-Za-z0-9]{37}' },
  { kind: 'slack_token', form: 'xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\\d-[A-Za-z0-9-]{20,}' },
  {
    kind: 'stripe_key',
    form: '(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{32,}',
  },
  { kind: 'npm_token', form: 'npm_[A-Za-z0-9]{36}' },
  { kind: 'pypi_token', form: 'pypi-AgEIcHlwaS5vcmc[\\w-]{50,}' },
  { kind: 'sendgrid_key', form: 'SG\\.[\\w-]{22}\\.[\\w-]{43}' },
  { kind: 'digitalocean_token', form: 'do[opr]_v1_[0-9a-f]{64}' },
  { kind: 'shopify_token', form: 'shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}' },
  { kind: 'databricks_token', form: 'dapi[0-9a-f]{32}(?:-\\d)?' },
  { kind: 'hashicorp_vault_token', form: 'hv[sbr]\\.[\\w-]{24,}' },
  { kind: 'linear_key', form: 'lin_api_[A-Za-z0-9]{40}' },
  { kind: 'notion_token', form: 'ntn_[A-Za-z0-9]{40,}' },
  { kind: 'telegram_token', form: '\\d{8,10}:AA[\\w-]{33}' },
  { kind: 'docker_token', form: 'dckr_pat_[\\w-]{27}' },
  { kind: 'remit_key', form: 'rm[cfko]_[A-Za-z0-9]{65}' },
]

/** Secrets without their own format, by the name before them; the group `secret` is the secret. */
const NAMED_SECRETS: readonly KeyFormat[] = [
  {
    kind: 'aws_secret_access_key',
    form: `aws_?secret_?(?:access_?)?key${SEPARATOR}(?:\\\\*["'])?(?<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])`,
  },
  {
    kind: 'azure_storage_key',
    form: 'AccountKey\\s{0,3}=\\s{0,3}(?<secret>[A-Za-z0-9/+]{86}==)',
  },
  {
    kind: 'password_in_url',
    form: PASSWORD_IN_URL,
  },
]

/** Prefixes of the key formats: a text without any of these contains none of the keys. */
const KEY_BEGINNINGS = [
  'AKIA|ASIA|gh[oprsu]_|github_pat_|gl[a-z]{2,5}-|sk-|AIza|ya29|GOCSPX|hf_|gsk_|xai-|r8_',
  'xox|xapp-|[sr]k_|whsec_|npm_|pypi-|SG\\.|do[opr]_|shp[acs]|dapi|hv[sbr]\\.|lin_api|ntn_',
  '\\d:AA|dckr_|rm[cfko]_',
]

interface SecretKind {
  readonly kind: string
  readonly severity: Detection['severity']
  /** Global; starts at a boundary, so that a long run of letters is scanned once. */
  readonly pattern: RegExp
  /** Members of the list that the group `secret` is. */
  readonly within?: RegExp
  /** Returns the end of the secret; 0 for none. Default: the end of the match. */
  readonly endOf?: (text: string, start: number, end: number) => number
}

const SEVERE = 'critical'

const BY_FORM: readonly SecretKind[] = KEY_FORMATS.map(({ kind, form }) => ({
  kind,
  severity: SEVERE,
  pattern: new RegExp(`(?<![A-Za-z0-9_])(?:${form})(?![A-Za-z0-9_])`, 'g'),
}))
const BY_NAME: readonly SecretKind[] = NAMED_SECRETS.map(({ kind, form }) => ({
  kind,
  severity: SEVERE,
  pattern: new RegExp(`(?<![A-Za-z0-9])${form}`, 'gid'),
}))

const WITHOUT_FORM: readonly SecretKind[] = [
  ...BY_NAME,
  {
    kind: 'private_key',
    severity: 'critical',
    pattern: /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g,
    endOf: endOfPrivateKey,
  },
  {
    kind: 'jwt',
    severity: 'high',
    pattern: /(?<![\w.-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{16,}/g,
    endOf: (text, start, end) => (hasJwtHeader(text.slice(start, end)) ? end : 0),
  },
]

const BY_GENERIC_NAME: readonly SecretKind[] = GENERIC_SECRETS.map(
  ({ kind, pattern, within, after, accepts }) => ({
    kind,
    severity: 'high',
    pattern,
    ...(within && { within }),
    endOf: (text, start, matchEnd) => {
      const end = endOfValue(text, start, matchEnd)
      const isSecret =
        accepts(text.slice(start, end)) &&
        (!after || after.test(text.slice(Math.max(0, start - MAX_BEFORE), start)))
      return isSecret ? end : 0
    },
  }),
)

const KINDS = [...BY_FORM, ...WITHOUT_FORM]
// Parts that every kind above contains, so that most texts need no full scan.
const LONG_RUN = 16
const MAX_BEFORE = 300
const BEGINNING = new RegExp(KEY_BEGINNINGS.join('|'))

/**
 * Finds keys and tokens with a distinctive format, and random values after names such as `api_key`.
 * Linear.
 */
export function findSecrets(text: string): Detection[] {
  const found = findKnown(text)
  if (!NAMES_OF_SECRETS.test(text)) return found
  // Secrets with their own format are reported as such, even after a name.
  for (const kind of BY_GENERIC_NAME) found.push(...withoutOverlaps(findAll(text, [kind]), found))
  return found
}

function findKnown(text: string): Detection[] {
  if (!hasLongRun(text))
    return findUrlPasswords(text).map(({ start, end }) =>
      redacted('secret', 'password_in_url', SEVERE, start, end),
    )
  return findAll(text, BEGINNING.test(text) ? KINDS : WITHOUT_FORM)
}

/**
 * Returns true if 16 consecutive units are base64, base64url or a name: testing every 16th
 * suffices.
 */
function hasLongRun(text: string): boolean {
  for (let at = LONG_RUN - 1; at < text.length; at += LONG_RUN) {
    if (!isOfRun(text.charCodeAt(at))) continue
    let start = at
    while (start > 0 && isOfRun(text.charCodeAt(start - 1))) start--
    while (isOfRun(text.charCodeAt(at + 1))) at++
    if (at + 1 - start >= LONG_RUN) return true
  }
  return false
}

/** Returns true for a letter, a digit, or one of `_+/-`. */
const isOfRun = (unit: number): boolean =>
  (unit >= 0x61 && unit <= 0x7a) ||
  (unit >= 0x41 && unit <= 0x5a) ||
  (unit >= 0x2f && unit <= 0x39) ||
  unit === 0x5f ||
  unit === 0x2b ||
  unit === 0x2d

function findAll(text: string, kinds: readonly SecretKind[]): Detection[] {
  return kinds.flatMap(({ kind, severity, pattern, within, endOf }) => {
    const found: Detection[] = []
    let last = 0
    for (const [start, matchEnd] of spansOf(text, pattern, within)) {
      if (start < last) continue
      const end = endOf ? endOf(text, start, matchEnd) : matchEnd
      if (end === 0) continue
      last = end
      found.push(redacted('secret', kind, severity, start, end))
    }
    return found
  })
}

/** Finds personal data, which redaction replaces. Linear. */
export const findPersonalData = (text: string): Detection[] =>
  findSpans(text).map(({ kind, start, end }) => redacted('pii', kind, 'medium', start, end))

const redacted = (
  category: 'pii' | 'secret',
  kind: string,
  severity: Detection['severity'],
  start: number,
  end: number,
): Detection => ({
  detector: `${category}.${kind}`,
  category,
  severity,
  start,
  end,
  view: 'original',
  reason: `${category}:${kind}`,
  replacement: `[REDACTED:${kind}]`,
})

function* spansOf(text: string, pattern: RegExp, within?: RegExp): Generator<Span> {
  for (const { 0: match, index, indices } of text.matchAll(pattern)) {
    const [start, end] = indices?.groups?.['secret'] ?? [index, index + match.length]
    if (!within) yield [start, end]
    else
      for (const [from, to] of spansOf(text.slice(start, end), within))
        yield [start + from, start + to]
  }
}

const OPENING: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }
const MAX_CLOSING = 8

/** Returns the end without the end of a sentence, and without brackets that are open before the value. */
function endOfValue(text: string, start: number, end: number): number {
  let last = end
  for (let n = 0; n < MAX_CLOSING; n++) {
    const sign = text.charAt(last - 1)
    const opening = OPENING[sign]
    const isEnd = opening
      ? depth(text.slice(start, last), opening, sign) < 0 &&
        depth(text.slice(Math.max(0, start - MAX_BEFORE), start), opening, sign) > 0
      : sign === '.' && !/[\w]/.test(text.charAt(last))
    if (!isEnd || last - 1 <= start) break
    last--
  }
  return last
}

/** The number of opening brackets of a text, less that of closing ones. */
const depth = (text: string, opening: string, closing: string): number =>
  text.split(opening).length - text.split(closing).length

const MIN_KEY = 40
const END_MARK = /-----END [A-Z0-9 ]{1,80}-----/y
// Also on one line, and inside of a JSON string, where line breaks are written \n.
const BREAK = String.raw`(?:\\{1,8}[rn]|\s)`
const HEADER = String.raw`[A-Za-z-]{1,20}: [^\r\n\\]{1,100}`
const LINE = '[A-Za-z0-9+/=]'
const TRUNCATED = new RegExp(
  `(?:${BREAK}{0,4}${HEADER})*(?:${BREAK}{0,40}${LINE}{16,})+(?:${BREAK}{1,40}${LINE}{1,15}(?=["'\\\\\r\n]|$))?`,
  'y',
)

/**
 * Returns the end of the block at its END line, or of a truncated one. A header alone is not a key.
 */
function endOfPrivateKey(text: string, _start: number, bodyStart: number): number {
  const mark = text.indexOf('-----', bodyStart)
  END_MARK.lastIndex = mark
  if (mark >= bodyStart + MIN_KEY && END_MARK.test(text)) return END_MARK.lastIndex
  TRUNCATED.lastIndex = bodyStart
  return TRUNCATED.test(text) && TRUNCATED.lastIndex - bodyStart >= MIN_KEY
    ? TRUNCATED.lastIndex
    : 0
}

/** RFC 7515 section 4: the first part is a JSON object that names an algorithm. */
function hasJwtHeader(token: string): boolean {
  const first = token.slice(0, token.indexOf('.'))
  const header = parseJson(Buffer.from(first, 'base64url').toString('utf8'))
  return typeof header === 'object' && header !== null && 'alg' in header
}
