/**
 * Strict JSON (RFC 7493) and canonical JSON (RFC 8785), with no dependencies.
 *
 * @example
 * import { canonicalJson, parseStrictJson } from '@remit/core/json'
 *
 * const value = parseStrictJson(Buffer.from('{"b":1,"a":2}'))
 * canonicalJson(value) // '{"a":2,"b":1}'
 *
 * @module
 */
export { canonicalJson, parseStrictJson, StrictJsonError } from '@remit/contract/json'
export type { JsonLimits } from '@remit/contract/json'
