import { fail, invalid } from '../errors.ts'
import { parseStrictJson, StrictJsonError } from '../json/strict-json.ts'

/** Bytes of a JSON body at most, where the endpoint does not say otherwise. */
export const MAX_BODY_BYTES = 1024 * 1024

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/** The bytes of a JSON request: 415 for another media type, 413 above `maxBytes`. */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (!JSON_TYPE.test(request.headers.get('content-type') ?? '')) {
    throw fail('unsupported_media_type', 'Send Content-Type: application/json')
  }
  const length = request.headers.get('content-length')
  if (length !== null && Number(length) > maxBytes) throw tooLarge(maxBytes)
  // A declared length is enforced by the HTTP parser; without one the bytes must be counted.
  if (length !== null) return new Uint8Array(await request.arrayBuffer())
  return readChunks(request, maxBytes)
}

async function readChunks(request: Request, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.body ?? []) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const tooLarge = (maxBytes: number) => fail('body_too_large', `The body may have at most ${maxBytes} bytes`)

/** Strict JSON of an object (RFC 7493): see `parseStrictJson`; U+0000 is refused too. */
export function parseBody(bytes: Uint8Array): unknown {
  let value: unknown
  try {
    value = parseStrictJson(bytes, { refuseNul: true })
  } catch (error) {
    if (error instanceof StrictJsonError) throw fail('invalid_json', error.message)
    throw error
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid('body', 'must be a JSON object')
  return value
}
