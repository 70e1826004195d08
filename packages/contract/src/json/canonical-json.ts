/** A value that JSON cannot represent. `path` looks like `$.data.items[2]`. */
export class CanonicalJsonError extends Error {
  readonly problem: string
  readonly path: string

  constructor(problem: string, path = '') {
    super(`$${path} ${problem}`)
    this.name = 'CanonicalJsonError'
    this.problem = problem
    this.path = `$${path}`
  }

  /** Returns the error with the path extended by one enclosing level. */
  inside(step: string): CanonicalJsonError {
    return new CanonicalJsonError(this.problem, step + this.path.slice(1))
  }
}

// Far above the limits of requests, far below the stack limit; also stops at a cycle.
const MAX_DEPTH = 1000

// Quotes, backslashes and control characters need escapes; surrogates must be paired.
const NEEDS_CARE = /["\\\u0000-\u001f\ud800-\udfff]/

/**
 * Returns the canonical text of a JSON value by RFC 8785 (JCS): names in order of their UTF-16 code
 * units, numbers as in ECMAScript, no white space, minimal escapes.
 *
 * Throws `CanonicalJsonError` with the path of any value that JSON would drop or change: undefined,
 * functions, symbols, BigInt, NaN and infinities, class instances (including Date and Map),
 * unpaired surrogates, cycles, and nesting beyond 1,000 levels.
 */
export function canonicalJson(value: unknown): string {
  return write(value, 0)
}

function write(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return quote(value)
    case 'number':
      if (!Number.isFinite(value))
        throw new CanonicalJsonError(`is ${value}, which JSON does not support`)
      return String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (depth === MAX_DEPTH)
        throw new CanonicalJsonError('is nested too deeply or contains a cycle')
      return Array.isArray(value) ? writeArray(value, depth) : writeObject(value, depth)
    default:
      throw new CanonicalJsonError(`is of type ${typeof value}, which JSON does not support`)
  }
}

function writeArray(items: readonly unknown[], depth: number): string {
  let text = '['
  let index = 0
  try {
    // By index, so that holes of a sparse array are found (as undefined) and rejected.
    for (; index < items.length; index++) {
      text += (index === 0 ? '' : ',') + write(items[index], depth + 1)
    }
  } catch (error) {
    throw error instanceof CanonicalJsonError ? error.inside(`[${index}]`) : error
  }
  return `${text}]`
}

function writeObject(value: object, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    throw new CanonicalJsonError('is an instance of a class, not plain data')
  }
  const names = inOrder(Object.keys(value))
  let text = '{'
  let at = 0
  try {
    for (; at < names.length; at++) {
      const name = names[at] ?? ''
      const member = (value as Record<string, unknown>)[name]
      text += (at === 0 ? quoteName(name).first : quoteName(name).next) + write(member, depth + 1)
    }
  } catch (error) {
    const name = names[at] ?? ''
    throw error instanceof CanonicalJsonError ? error.inside(`.${name.toWellFormed()}`) : error
  }
  return `${text}}`
}

const MAX_NAMES = 1_000
const MAX_NAME_LENGTH = 64

/** A quoted name with its colon, for the first member of an object and for later ones. */
interface QuotedName {
  readonly first: string
  readonly next: string
}

const quotedNames = new Map<string, QuotedName>()

/** Names repeat, so the first ones are cached. */
function quoteName(name: string): QuotedName {
  const known = quotedNames.get(name)
  if (known !== undefined) return known
  const first = `${quote(name)}:`
  const quoted = { first, next: `,${first}` }
  if (quotedNames.size < MAX_NAMES && name.length <= MAX_NAME_LENGTH) quotedNames.set(name, quoted)
  return quoted
}

/** Up to this number, insertion sort makes less garbage than the engine's sort. */
const FEW = 32

/**
 * Sorts by UTF-16 code units, as RFC 8785 section 3.2.3 requires; `<` and `toSorted` both compare
 * these.
 */
function inOrder(names: string[]): string[] {
  if (names.length > FEW) return names.toSorted()
  for (let end = 1; end < names.length; end++) {
    const name = names[end] ?? ''
    let at = end
    for (; at > 0 && (names[at - 1] ?? '') > name; at--) names[at] = names[at - 1] ?? ''
    names[at] = name
  }
  return names
}

function quote(text: string): string {
  if (!needsCare(text)) return `"${text}"`
  if (!text.isWellFormed()) throw new CanonicalJsonError('contains an unpaired surrogate')
  return JSON.stringify(text)
}

/** Up to this length, a loop over the characters is faster than the regular expression. */
const SHORT = 40

function needsCare(text: string): boolean {
  if (text.length > SHORT) return NEEDS_CARE.test(text)
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0x20 || unit === 0x22 || unit === 0x5c) return true
    if (unit >= 0xd800 && unit <= 0xdfff) return true
  }
  return false
}
