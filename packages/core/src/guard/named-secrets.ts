import { isRandom, entropyOf, restlessness } from './random.ts'
import { LIKE_A_WORD, wordLikeness } from './characters.ts'

/** Minimum entropy in bits; eight random letters and digits have at most 24. */
const MIN_BITS = 18
/** Above that of `camelCaseNames`. */
const MIN_RESTLESSNESS = 0.25
/** A URL, a regular expression, or the first line of a call. */
const NO_VALUE = /^[a-z][a-z0-9+.-]*:\/\/|^\/\^|^[\w.]+[({[]$/i
const CALL_OR_VARIABLE = /^[\w.,[\]-]*[({[]|[({[]$|^[$%{&]/
const VARIABLE = /^[$%&]\w+$/
const NAME = /^[\p{L}_]+(?:[._-][\p{L}_]+)*$|^(.)\1+$/u
const END_OF_STATEMENT = /[?.:)\]}]{1,8}$/
const NUMBER = /^\d{8,}$/
const PASSPHRASE = /^[A-Za-z][a-z]{2,11}(?:-[A-Za-z][a-z]{2,11}){3,}$/
/** Parts of variable names and of placeholders. */
const OF_NAMES =
  /pass|ps?wo?r?d|secret|token|key|user|string|value|auth|cred|conf|cfg|http|smtp|ldap|sql/i
const OF_PROSE =
  /(?<![a-z])(?:and|are|can|change|enter|example|for|from|goes|here|insert|must|not|our|please|see|set|should|the|this|type|use|will|with|you|your)(?![a-z])/i

/** Long values of that entropy without words are random too. */
const LONG = 32
const HIGH_ENTROPY = 4
/** Capitals as in no name: `tiBByccjBilt`. Then the letters need not be that unlike a word. */
const IRREGULAR = /[a-z].*[A-Z]{2}|[A-Z]{3}.*[a-z]/
const LIKE_A_FREQUENT_WORD = 5

/** Returns true for a random value behind a name such as `api_key`. */
const isKey = (value: string): boolean =>
  (isRandom(value) || isLongWithoutWords(value)) && !isExpression(value)

const USER_AND_PASSWORD = /^[^:\p{Cc}\ufffd]*:[^\p{Cc}\ufffd]+$/u

/** Returns true for a user and a password in base64 (RFC 7617). */
const isBasic = (value: string): boolean =>
  USER_AND_PASSWORD.test(Buffer.from(value, 'base64').toString('utf8'))

/** Returns true for a password beside its user, which is no word for one and no variable. */
const isPasswordOfUser = (value: string): boolean =>
  !/[<>{}*]/.test(value) && (isPassword(value) || !(isExpression(value) || NAME.test(value)))

/** Returns true for a value that is a password, in contrast to names, placeholders and code. */
function isPassword(value: string): boolean {
  if (isExpression(value)) return false
  const bare = value.replace(END_OF_STATEMENT, '')
  if (NAME.test(bare)) return isRandomName(bare) || isPassphrase(bare)
  if (NUMBER.test(value)) return true
  // Prose without blanks, as in Chinese and Japanese.
  if (/\p{Lo}/u.test(value)) return false
  return /\p{L}/u.test(value) && hasEntropy(value)
}

const isExpression = (value: string): boolean =>
  NO_VALUE.test(value) ||
  (CALL_OR_VARIABLE.test(value) &&
    restlessness(value) < MIN_RESTLESSNESS &&
    (VARIABLE.test(value) || isWordLike(value)))

/** Returns true for letters that form neither words nor the names of variables. */
const isRandomName = (value: string): boolean =>
  hasEntropy(value) &&
  (restlessness(value) >= MIN_RESTLESSNESS || (isUnlikeNames(value) && !OF_NAMES.test(value)))

const isUnlikeNames = (value: string): boolean =>
  wordLikeness(value) < (IRREGULAR.test(value) ? LIKE_A_FREQUENT_WORD : LIKE_A_WORD)

const isPassphrase = (value: string): boolean =>
  PASSPHRASE.test(value) && !OF_NAMES.test(value) && !OF_PROSE.test(value)

const isLongWithoutWords = (value: string): boolean =>
  value.length >= LONG && entropyOf(value) >= HIGH_ENTROPY && !isWordLike(value)

const hasEntropy = (value: string): boolean => entropyOf(value) * value.length >= MIN_BITS

const isWordLike = (value: string): boolean => wordLikeness(value) >= LIKE_A_WORD

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
