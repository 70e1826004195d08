import type { Endpoint } from '@remit/contract'
import { checkShape } from '../base/check-shape.ts'
import { fail, invalid } from '../base/errors.ts'
import { parseStrictJson, StrictJsonError } from '@remit/contract/json'
import type { JsonLimits } from '@remit/contract/json'
import { MAX_BODY_BYTES } from './read-body.ts'

// Limits of a body: far above the needs of a request, far below the maximum for its bytes.
const BYTES_PER_PART = 20
const MAX_NAMES = 5_000
const MAX_VALUES = 1_000_000

/**
 * Parses the body of a request as its endpoint describes it: a strict JSON object (RFC 7493, see
 * `parseStrictJson`) without U+0000. Throws `invalid_json`, `body_too_large` or `invalid_request`.
 */
export const checkBody = (endpoint: Endpoint, bytes: Uint8Array): unknown => {
  const value = parseBody(endpoint, bytes)
  return endpoint.body && checkShape(endpoint.body, value)
}

/** Parses the members of a JSON body, without further checks. */
export function parseBody(endpoint: Endpoint, bytes: Uint8Array): unknown {
  const { maxBodyBytes = MAX_BODY_BYTES } = endpoint
  const parts = Math.floor(maxBodyBytes / BYTES_PER_PART)
  const value = readJson(bytes, { parts, names: MAX_NAMES, values: MAX_VALUES })
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('body', 'must be a JSON object')
  return value
}

/**
 * Parses strict JSON without U+0000; throws `invalid_json`, and `body_too_large` beyond the limits.
 */
export function readJson(bytes: Uint8Array, limits?: JsonLimits): unknown {
  try {
    return parseStrictJson(bytes, { refuseNul: true, ...(limits && { limits }) })
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error
    throw fail(error.code === 'too_many_parts' ? 'body_too_large' : 'invalid_json', error.message)
  }
}
