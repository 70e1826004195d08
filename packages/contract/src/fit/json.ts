import { isObject } from './values.ts'

/** Plain JSON. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json }
export type JsonObject = { readonly [name: string]: Json }

/** Returns the value of a JSON text; undefined where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The one text of a JSON value by RFC 8785 (JCS), except that integers beyond 2^53 have all of their digits:
 * servers refuse those that are not exactly the double.
 */
export function canonical(value: Json): string {
  if (typeof value === 'number' && isLarge(value)) return String(BigInt(value))
  if (isOrdered(value) || typeof value !== 'object' || value === null) return JSON.stringify(value)
  let text = ''
  if (Array.isArray(value)) {
    for (const item of value as Json[]) text += `${text === '' ? '' : ','}${canonical(item)}`
    return `[${text}]`
  }
  for (const name of Object.keys(value).toSorted())
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${canonical((value as JsonObject)[name] ?? null)}`
  return `{${text}}`
}

/** Returns whether a number is an integer whose plain digits may be fewer than it has. */
const isLarge = (value: number): boolean =>
  Math.abs(value) > Number.MAX_SAFE_INTEGER && Math.abs(value) < 1e21

/** Returns whether each object has its names in order, as almost all do that a gate makes. */
function isOrdered(value: Json): boolean {
  if (typeof value === 'number') return !isLarge(value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return (value as Json[]).every(isOrdered)
  let last = ''
  for (const name in value as JsonObject) {
    const member = (value as JsonObject)[name]
    if (name < last || member === undefined || !isOrdered(member)) return false
    last = name
  }
  return true
}

/** The steps of a JSON Pointer (RFC 6901). */
export const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))

/** The JSON Pointer of some steps. */
export const pointerOf = (steps: readonly string[]): string =>
  steps.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** The value at a JSON Pointer; undefined where there is none. */
export function at(value: Json, pointer: string): Json | undefined {
  let found: Json | undefined = value
  for (const step of stepsOf(pointer)) {
    if (Array.isArray(found)) found = (found as Json[])[/^(0|[1-9]\d*)$/.test(step) ? +step : -1]
    else found = isObject(found) && Object.hasOwn(found, step) ? found[step] : undefined
  }
  return found
}
