/** Plain JSON. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json }
export type JsonObject = { readonly [name: string]: Json }

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The one text of a JSON value by RFC 8785 (JCS). */
export function canonical(value: Json): string {
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

/** Returns whether each object has its names in order, as almost all do that a gate makes. */
function isOrdered(value: Json): boolean {
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

/** The value at a JSON Pointer (RFC 6901); undefined where there is none. */
export function at(value: Json, pointer: string): Json | undefined {
  let found: Json | undefined = value
  for (const step of stepsOf(pointer)) {
    if (Array.isArray(found)) found = (found as Json[])[/^(0|[1-9]\d*)$/.test(step) ? +step : -1]
    else found = isObject(found) && Object.hasOwn(found, step) ? found[step] : undefined
  }
  return found
}

/** The value without the member that a JSON Pointer names. */
export function without(value: Json, pointer: string): Json {
  const [step, ...rest] = stepsOf(pointer)
  if (step === undefined || !isObject(value) || !Object.hasOwn(value, step)) return value
  const { [step]: member = null, ...others } = value
  if (rest.length === 0) return others
  return { ...others, [step]: without(member, `/${rest.map(escaped).join('/')}`) }
}

const escaped = (step: string): string => step.replaceAll('~', '~0').replaceAll('/', '~1')

const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
