import { isObject, parseJson } from '@remit/contract/fit'

/** The object that a JSON text is; null for any other text. */
export function readObject(text: string): Readonly<Record<string, unknown>> | null {
  const value = parseJson(text)
  return isObject(value) ? value : null
}
