const NUMBER = /^-?(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/

/**
 * Whether the double nearest to `literal` prints back as the same decimal number, so that another
 * reader of the canonical text sees what the sender wrote (RFC 7493 section 2.2).
 *
 * Whole numbers between 2^53 and 10^21 are refused in any spelling, because canonical JSON prints
 * them in plain digits, which promise an exactness that a double no longer has. What is not a
 * number literal at all is left to the JSON parser.
 */
export function numberSurvives(literal: string): boolean {
  const value = Number(literal)
  if (Number.isNaN(value)) return true
  if (!Number.isFinite(value)) return false
  const size = Math.abs(value)
  if (size > Number.MAX_SAFE_INTEGER && size < 1e21) return false
  return decimalOf(literal) === decimalOf(String(value))
}

/** One spelling per decimal number: significant digits and the power of ten of the last one. */
function decimalOf(literal: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(literal) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return '0'
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g

/** The first name that one object of this valid JSON text holds twice. For error messages. */
export function duplicateName(text: string): string | undefined {
  const open: Set<string>[] = []
  let last = ''
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') open.push(new Set())
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':') {
      const name = JSON.parse(last) as string
      const names = open.at(-1)
      if (names?.has(name)) return name
      names?.add(name)
    }
    last = token
  }
  return undefined
}

/**
 * Whether `value`, which this text was parsed to, has another name than the text. V8 takes a name such
 * as `x\n` for the `x\` of an object that it has seen (nodejs/node#63785); what it takes a name for
 * always ends in a backslash.
 */
export function isNameMisread(text: string, value: object): boolean {
  const read = namesOf(value)
  if (!read.some((name) => name.endsWith('\\'))) return false
  const written: string[] = []
  let last = ''
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === ':') written.push(JSON.parse(last) as string)
    last = token
  }
  const [a, b] = [read.toSorted(), written.toSorted()]
  return a.length !== b.length || a.some((name, i) => name !== b[i])
}

function namesOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(namesOf)
  return Object.entries(value).flatMap(([name, member]) => [name, ...namesOf(member)])
}
