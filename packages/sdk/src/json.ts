import { isObject, pointerOf, stepsOf } from '@remit/contract/fit'
import type { Json } from '@remit/contract/fit'

/** The value without the member that a JSON Pointer names; an item of an array becomes null. */
export function without(value: Json, pointer: string): Json {
  const [step, ...rest] = stepsOf(pointer)
  if (step === undefined) return value
  const inner = (member: Json) => without(member, pointerOf(rest))
  if (Array.isArray(value))
    return (value as Json[]).map((item, index) => {
      if (String(index) !== step) return item
      return rest.length === 0 ? null : inner(item)
    })
  if (!isObject(value) || !Object.hasOwn(value, step)) return value
  const { [step]: member = null, ...others } = value
  return rest.length === 0 ? others : { ...others, [step]: inner(member) }
}
