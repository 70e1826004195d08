const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Replaces the value of a member, and leaves all other bytes of the JSON text as they are. Returns null if
 * there is no such member; the text must be valid JSON. Pure.
 */
export function splice(json: Buffer, path: readonly string[], value: string): Buffer | null {
  const found = valueAt(json, path)
  return found && replaced(json, found, value)
}

/** Sets a member of an object: as `splice`, or as the first one. Returns null if there is no such object. Pure. */
export function setMember(
  json: Buffer,
  path: readonly string[],
  name: string,
  value: string,
): Buffer | null {
  const object = valueAt(json, path)
  if (!object || json[object.at] !== OPEN_OBJECT) return null
  const known = memberOf(json, object.at, name)
  if (known) return replaced(json, known, value)
  const at = object.at + 1
  const isEmpty = json[skipSpace(json, at)] === CLOSE_OBJECT
  return replaced(json, { at, end: at }, `${JSON.stringify(name)}:${value}${isEmpty ? '' : ','}`)
}

interface Place {
  readonly at: number
  readonly end: number
}

function valueAt(json: Buffer, path: readonly string[]): Place | null {
  let place: Place = { at: skipSpace(json, 0), end: json.length }
  for (const name of path) {
    const found = memberOf(json, place.at, name)
    if (!found) return null
    place = found
  }
  return place
}

const replaced = (json: Buffer, { at, end }: Place, value: string): Buffer =>
  Buffer.concat([json.subarray(0, at), Buffer.from(value), json.subarray(end)])

/** The place of a member's value; of a name that is there twice, the last one counts, as for JSON.parse. */
function memberOf(json: Buffer, from: number, name: string): Place | null {
  if (json[from] !== OPEN_OBJECT) return null
  let found: Place | null = null
  let at = skipSpace(json, from + 1)
  while (at < json.length && json[at] === QUOTE) {
    const nameEnd = endOfText(json, at)
    const isIt = JSON.parse(json.toString('utf8', at, nameEnd)) === name
    at = skipSpace(json, skipSpace(json, nameEnd) + 1)
    const end = endOfValue(json, at)
    if (isIt) found = { at, end }
    at = skipSpace(json, end)
    if (json[at] === COMMA) at = skipSpace(json, at + 1)
  }
  return found
}

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

function skipSpace(json: Buffer, at: number): number {
  while (isSpace(json[at])) at++
  return at
}

/** The position after a text that begins at `at`. */
function endOfText(json: Buffer, at: number): number {
  for (let quote = json.indexOf(QUOTE, at + 1); ; quote = json.indexOf(QUOTE, quote + 1)) {
    if (quote === -1) return json.length
    let backslashes = 0
    while (json[quote - 1 - backslashes] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return quote + 1
  }
}

function endOfValue(json: Buffer, at: number): number {
  if (json[at] === QUOTE) return endOfText(json, at)
  let depth = 0
  for (; at < json.length; at++) {
    const byte = json[at]
    if (byte === QUOTE) at = endOfText(json, at) - 1
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++
    else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
      if (depth === 0) return at
      depth--
      if (depth === 0) return at + 1
    } else if (depth === 0 && (byte === COMMA || isSpace(byte))) return at
  }
  return at
}
