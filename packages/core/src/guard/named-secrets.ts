import { isKey, isPassword } from './credential-value.ts'
import { isRandom } from './random.ts'

/** A secret without its own format, recognized by the name before it. */
export interface NamedSecret {
  readonly kind: string
  /** The group `secret` is the secret. */
  readonly pattern: RegExp
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
  '(?:api|access|secret|private|auth|client|refresh|session|signing|encryption|master)[_. -]?' +
  '(?:key|token|secret)|secret'
/** The token of a page of results is no secret. */
const TOKEN = '(?<!(?:page|next|sync|cursor|continuation)[_. -]?)token'

/** Names of passwords, keys and tokens as a regular expression. */
export const PASSWORD_OR_KEY = `${PASSWORD}|${KEY}|${TOKEN}`

/** Parts of the names; few texts contain any. */
export const NAMES_OF_SECRETS = new RegExp(
  String.raw`secret|bearer|(?:key|token)(?:\\*["'\]]){0,2}[ \t]*[:=>：]|${PASSWORD}`,
  'i',
)

const QUOTES = '"\'`'
/** Without white space, up to the same quote; a quote after more backslashes is part of the value. */
const QUOTED = String.raw`(?:(?!\k<quote>)\\*[^\s\\])`
/** The punctuation of Chinese and Japanese ends a value. */
const PLAIN = String.raw`[^\s,;&<>\\${QUOTES}，。、；：！？「」『』（）【】“”]`
/** The value goes on: neither another name nor the end of the statement follows. */
const FOLLOWED = String.raw`(?=${PLAIN})(?![)\]}]|[\w. -]{1,40}[:=])`
const AND = `&${FOLLOWED}`
const SIGN = String.raw`[,;&${QUOTES}]${FOLLOWED}|\\(?![nrtu\\${QUOTES}])`

/** A value of at least this many characters behind a name, or in the XML element of that name. */
const valueAfter = (names: string, least: number): RegExp =>
  new RegExp(
    `(?:${names})(?:${SEPARATOR}(?<quote>\\\\*[${QUOTES}])?` +
      `(?<secret>${QUOTED}{${least},}(?=\\k<quote>)|(?:${PLAIN}|${AND})(?:${PLAIN}|${SIGN}){${least - 1},})` +
      `|>(?<secret>[^\\s<>]{${least},})(?=</))`,
    'gid',
  )

export const GENERIC_SECRETS: readonly NamedSecret[] = [
  {
    kind: 'bearer_token',
    // RFC 6750 section 2.1.
    pattern: /\bbearer[ \t]{1,3}(?<secret>[A-Za-z0-9._~+/=-]{20,})/dgi,
    accepts: isRandom,
  },
  { kind: 'api_key', pattern: valueAfter(`${KEY}|${TOKEN}`, 16), accepts: isKey },
  { kind: 'password', pattern: valueAfter(PASSWORD, 8), accepts: isPassword },
]
