import { isObject } from './values.ts'
import type { Json } from './json.ts'

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
