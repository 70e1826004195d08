const MAX_DEPTH = 1000

/** A value or text without a canonical form; the message has the reason. */
export class JsonError extends Error {
  override readonly name = 'JsonError'
}

/**
 * Returns the canonical JSON (RFC 8785) of a value from `JSON.parse`: names sorted by UTF-16 code
 * units, numbers as in ECMAScript, no white space. Throws `JsonError` if the text is not unique,
 * and for nesting beyond that of any document of ours.
 */
export function canonical(value: unknown, depth = 0): string {
  if (depth > MAX_DEPTH) throw new JsonError(`nested deeper than ${MAX_DEPTH}`)
  if (Array.isArray(value)) return `[${value.map((one) => canonical(one, depth + 1)).join()}]`
  if (typeof value === 'object' && value !== null) {
    const members = value as Readonly<Record<string, unknown>>
    // Without a comparator: sorts by UTF-16 code units, as the RFC requires.
    const names = Object.keys(members).toSorted()
    return `{${names.map((name) => `${canonical(name)}:${canonical(members[name], depth + 1)}`).join()}}`
  }
  if (typeof value === 'string' && !value.isWellFormed()) throw new JsonError('unpaired surrogate')
  if (typeof value === 'number' && !Number.isFinite(value)) throw new JsonError('number too large')
  return JSON.stringify(value)
}

/**
 * Parses JSON. Throws `JsonError` also for a repeated name in an object, because parsers differ in
 * the value they use.
 */
export function parseJson(text: string): unknown {
  const value = parse(text)
  // The names of each open object; null for a list.
  const open: (Set<string> | null)[] = []
  let string = ''
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(null)
    else if (token === '}' || token === ']') open.pop()
    else if (token === ':') note(open.at(-1), JSON.parse(string) as string)
    else string = token
  }
  return value
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new JsonError('not JSON')
  }
}

function note(names: Set<string> | null | undefined, name: string): void {
  if (names?.has(name) === true) throw new JsonError(`the name ${JSON.stringify(name)} is repeated`)
  names?.add(name)
}

/** Returns true if a value is a JSON object: not a list, not null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The content of an entry: docs/ledger-format.md section 2. */
interface Payload {
  readonly actor: { readonly id: string; readonly type: string }
  readonly data: Readonly<Record<string, unknown>>
}

const NAMES = 'action,actor,agent_id,data,decision,reason,resource'

/** Parses a payload; null unless it is the canonical text of an object with exactly its members. */
export function readPayload(text: string): Payload | null {
  try {
    const value: unknown = JSON.parse(text)
    return isPayload(value) && canonical(value) === text ? value : null
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonError) return null
    throw error
  }
}

function isPayload(value: unknown): value is Payload {
  if (!isObject(value) || Object.keys(value).join() !== NAMES) return false
  const { action, actor, agent_id, data, decision, reason, resource } = value
  if (!isObject(actor) || Object.keys(actor).join() !== 'id,type' || !isObject(data)) return false
  return (
    [actor['id'], actor['type']].every((text) => typeof text === 'string') &&
    [action, agent_id, decision, reason, resource].every(
      (text) => text === null || typeof text === 'string',
    )
  )
}
