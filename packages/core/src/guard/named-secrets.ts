import { isBasic, isKey, isPassword, isPasswordOfUser } from './credential-value.ts'
import { isRandom } from './random.ts'

/** A secret without its own format, recognized by the name before it. */
export interface NamedSecret {
  readonly kind: string
  /** The group `secret` is the secret, or with `within` the list that has secrets. */
  readonly pattern: RegExp
  /** Members of the list; the group `secret` is the secret. */
  readonly within?: RegExp
  /** Required in the 300 characters before a match. */
  readonly after?: RegExp
  /** Returns false for values that cannot be secrets: names, placeholders and code. */
  readonly accepts: (value: string) => boolean
}

/** Between a name and its value; in a JSON string inside of another, backslashes precede quotes. */
export const SEPARATOR = String.raw`(?:\\*["'\]]){0,2}[ \t\xa0]*(?::=|=>|[:=：])[ \t\xa0]*`

/** Also in other languages; short words do not begin inside of a word. */
const PASSWORD = [
  'pass(?:wor[dt]|wd|phrase|ord)|pwd',
  'kennwort|contrase[nñ]a|mot[ _]?de[ _]?passe|wachtwoord|l[oö]senord|adgangskode|salasana',
  '(?<![a-z])(?:mdp|senha|has[lł]o|heslo|jelsz[oó]|parol[aă]|[sş]ifre|kata[ _]?sandi|mật khẩu)',
  'пароль|κωδικός|पासवर्ड|パスワード|密[码碼]|口令|비밀번호|סיסמה|كلمة (?:المرور|السر)',
].join('|')
const KEY =
  '(?:api|access|secret|private|auth|refresh|session|signing|encryption|master)[_. -]?' +
  '(?:key|token|secret)|(?:client|subscription|functions?|consumer|app)[_. -]?key|secret'
/** Tokens that anybody may know: of a page of results, of one request, of a form, of a public key. */
const PUBLIC_TOKEN =
  'page|next|sync|cursor|continuation|client|idempotency|csrf|xsrf|anti-?forgery|authenticity|' +
  'verification|public[_. -]?key'
const TOKEN = `(?<!(?:${PUBLIC_TOKEN})[_. -]?)token`

/** Names of passwords, keys and tokens as a regular expression. */
export const PASSWORD_OR_KEY = `${PASSWORD}|${KEY}|${TOKEN}`

/** Parts of the names; few texts contain any. */
export const NAMES_OF_SECRETS = new RegExp(
  String.raw`secret|bearer|(?:key|token)(?:\\*["'\]]){0,2}[ \t]*[:=>：]|sig(?:nature)?=|authorization|basic[ \t]{1,3}[\w+/]{8}|cookie\W|curl\s|${PASSWORD}`,
  'i',
)

const MIN_KEY = 16
const QUOTES = '"\'`'
/** Without white space, up to the same quote; a quote after more backslashes is part of the value. */
const QUOTED = String.raw`(?:(?!\k<quote>)\\*[^\s\\])`
/** The punctuation of Chinese and Japanese ends a value, and so does the end of a tag. */
const PLAIN = String.raw`(?:(?![/?%]>)[^\s,;&<>\\${QUOTES}，。、；：！？「」『』（）【】“”])`
/** The value goes on: no other name, last word, entity of XML or end of the statement follows. */
const FOLLOWED = String.raw`(?=${PLAIN})(?![)\]}]|[\w. -]{1,40}[:=]|(?:#x?[\da-f]{1,6}|quot|apos|amp|lt|gt);)`
const AND = `&${FOLLOWED}`
const BACKSLASH = String.raw`\\(?![nrtu\\${QUOTES}])`

/** A value of at least this many characters behind a name, or in the XML element of that name. */
const valueAfter = (names: string, least: number, signs: string): RegExp =>
  new RegExp(
    `(?:${names})(?:${SEPARATOR}(?<quote>\\\\*[${QUOTES}])?` +
      `(?<secret>${QUOTED}{${least},}(?=\\k<quote>)|(?:${PLAIN}|${AND})(?:${PLAIN}|[${signs}]${FOLLOWED}|${BACKSLASH}){${least - 1},})` +
      `|>(?<secret>[^\\s<>]{${least},})(?=</))`,
    'gid',
  )

/** RFC 9110 section 11.4: credentials are a scheme with a token, or with parameters. */
const AUTHORIZATION = String.raw`authorization${SEPARATOR}(?:\\*[${QUOTES}])?`
const SCHEME = String.raw`[a-z][\w-]{1,30}(?:[ \t]{1,3}|%20)`
const TOKEN68 = String.raw`[\w.~+/%|-]{4,}={0,2}(?=[${QUOTES}\s,;&<>)\]}\\]|$)`
const PARAMETER = String.raw`[\w-]{1,32}=(?:\\*"[^"\\\r\n]*\\*"|[^\s,"'\\]+)`

export const GENERIC_SECRETS: readonly NamedSecret[] = [
  {
    kind: 'bearer_token',
    // RFC 6750 section 2.1.
    pattern: /\bbearer[ \t]{1,3}(?<secret>[A-Za-z0-9._~+/=-]{20,})/dgi,
    accepts: isRandom,
  },
  {
    kind: 'authorization',
    pattern: new RegExp(
      String.raw`${AUTHORIZATION}(?:${SCHEME}(?<secret>${TOKEN68})|(?<secret>${TOKEN68})(?![ \t]+[\w"]))`,
      'gid',
    ),
    accepts: (value) => isBasic(value) || (value.length >= MIN_KEY && isKey(value)),
  },
  {
    kind: 'authorization',
    pattern: new RegExp(
      String.raw`${AUTHORIZATION}${SCHEME}(?<secret>${PARAMETER}(?:,[ \t]*${PARAMETER})*)`,
      'gid',
    ),
    within: /=\\*"?(?<secret>[\w.~+/%-]{16,}={0,2})/dg,
    accepts: isKey,
  },
  {
    kind: 'authorization',
    pattern: /\bbasic[ \t]{1,3}(?<secret>[\w+/-]{8,}={0,2})/dgi,
    accepts: isBasic,
  },
  {
    kind: 'cookie',
    pattern: new RegExp(
      String.raw`cookie(?:${SEPARATOR}|[ \t]{1,3}(?=[${QUOTES}]?[\w.-]{1,64}=))(?:\\*[${QUOTES}])?(?<secret>[^\r\n\\${QUOTES}]+)`,
      'gid',
    ),
    within:
      /(?<![\w.-])(?![\w.-]*(?:[cx]srf|antiforgery))[\w.-]{1,64}=(?<secret>[^\s,;<>&]{16,})/dgi,
    accepts: isKey,
  },
  {
    kind: 'url_signature',
    // Of Azure, AWS, Google and CloudFront: who has the URL with it has the access.
    pattern:
      /(?<=[?&;]|u0026|sharedaccesssignature[ =])(?:x-(?:amz|goog)-)?sig(?:nature)?=(?<secret>[\w+/%~-]{16,}={0,2})/dgi,
    accepts: isKey,
  },
  {
    kind: 'password',
    pattern: new RegExp(
      String.raw`(?<![\w-])(?:-u|--(?:proxy-)?user)[ \t=]{0,3}(?<quote>[${QUOTES}])?[^\s:${QUOTES}]{1,64}:` +
        String.raw`(?<secret>(?:(?!\k<quote>)[^\r\n]){3,}(?=\k<quote>)|[^\s${QUOTES};|&<>]{3,})`,
      'gd',
    ),
    after: /\bcurl\b(?:(?!\bcurl\b)(?:[^\r\n]|[\\^`]\r?\n))*$/,
    accepts: isPasswordOfUser,
  },
  {
    kind: 'api_key',
    pattern: valueAfter(`${KEY}|${TOKEN}`, MIN_KEY, `&${QUOTES}`),
    accepts: isKey,
  },
  { kind: 'password', pattern: valueAfter(PASSWORD, 8, `,;&${QUOTES}`), accepts: isPassword },
]
