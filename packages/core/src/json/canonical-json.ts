/** A value that JSON cannot carry faithfully. `path` reads like `$.data.items[2]`. */
export class CanonicalJsonError extends Error {
  readonly problem: string
  readonly path: string

  constructor(problem: string, path = '') {
    super(`$${path} ${problem}`)
    this.name = 'CanonicalJsonError'
    this.problem = problem
    this.path = `$${path}`
  }

  /** The same refusal as seen from the object or array one level further out. */
  inside(step: string): CanonicalJsonError {
    return new CanonicalJsonError(this.problem, step + this.path.slice(1))
  }
}

// Far above what admission lets in, far below where the call stack ends; ends a cycle too.
const MAX_DEPTH = 1000

// Quotes, backslashes and control characters need escapes; surrogates need a look at their pair.
const NEEDS_CARE = /["\\\u0000-\u001f\ud800-\udfff]/

/**
 * The one text of a JSON value by RFC 8785 (JCS): names in order of their UTF-16 code units,
 * numbers as ECMAScript prints them, no white space, only the escapes that JSON demands.
 *
 * Throws `CanonicalJsonError` naming the path for whatever JSON would drop or bend: undefined,
 * functions, symbols, BigInt, NaN and infinities, instances of classes (also Date and Map), lone
 * surrogates, and nesting beyond 1,000 levels. Cycles end there as well.
 */
export function canonicalJson(value: unknown): string {
  return write(value, 0)
}

function write(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return quote(value)
    case 'number':
      if (!Number.isFinite(value)) throw new CanonicalJsonError(`is ${value}, which JSON lacks`)
      return String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (depth === MAX_DEPTH) throw new CanonicalJsonError('is nested too deep, or in a cycle')
      return Array.isArray(value) ? writeArray(value, depth) : writeObject(value, depth)
    default:
      throw new CanonicalJsonError(`is of type ${typeof value}, which JSON lacks`)
  }
}

function writeArray(items: readonly unknown[], depth: number): string {
  let text = '['
  let index = 0
  try {
    // By index, so that the holes of a sparse array are seen (as undefined) and refused.
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

/** A name with its colon, as the first of its object and after another. */
interface QuotedName {
  readonly first: string
  readonly next: string
}

const quotedNames = new Map<string, QuotedName>()

/** The same few names come all the time, so the first ones are kept. */
function quoteName(name: string): QuotedName {
  const known = quotedNames.get(name)
  if (known !== undefined) return known
  const first = `${quote(name)}:`
  const quoted = { first, next: `,${first}` }
  if (quotedNames.size < MAX_NAMES && name.length <= MAX_NAME_LENGTH) quotedNames.set(name, quoted)
  return quoted
}

/** Up to here, moving names to their places makes less garbage than the engine's sort. */
const FEW = 32

/** In order of UTF-16 code units, as RFC 8785 section 3.2.3 asks; `<` and `toSorted` both compare these. */
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
  if (!text.isWellFormed()) throw new CanonicalJsonError('holds half of a surrogate pair')
  return JSON.stringify(text)
}

/** Up to here a look at each character is faster than the regular expression. */
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
