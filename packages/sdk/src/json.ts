import { isObject } from '@remit/contract/fit'
import type { Json } from '@remit/contract/fit'

/** The value at a JSON Pointer (RFC 6901); undefined where there is none. */
export function at(value: Json, pointer: string): Json | undefined {
  let found: Json | undefined = value
  for (const step of stepsOf(pointer)) {
    if (Array.isArray(found)) found = (found as Json[])[/^(0|[1-9]\d*)$/.test(step) ? +step : -1]
    else found = isObject(found) && Object.hasOwn(found, step) ? found[step] : undefined
  }
  return found
}

/** The value without the member that a JSON Pointer names; an item of an array becomes null. */
export function without(value: Json, pointer: string): Json {
  const [step, ...rest] = stepsOf(pointer)
  if (step === undefined) return value
  const inner = (member: Json) => without(member, `/${rest.map(escaped).join('/')}`)
  if (Array.isArray(value))
    return (value as Json[]).map((item, index) => {
      if (String(index) !== step) return item
      return rest.length === 0 ? null : inner(item)
    })
  if (!isObject(value) || !Object.hasOwn(value, step)) return value
  const { [step]: member = null, ...others } = value
  return rest.length === 0 ? others : { ...others, [step]: inner(member) }
}

const escaped = (step: string): string => step.replaceAll('~', '~0').replaceAll('/', '~1')

const stepsOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
