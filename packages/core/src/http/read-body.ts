import type { IncomingMessage } from 'node:http'
import type { Endpoint } from '@remit/contract'
import type { Context } from 'hono'
import { fail, invalid } from '../base/errors.ts'
import type { Failure } from '../base/errors.ts'
import { FORM_TYPE } from './form.ts'
import { headerOf, incomingOf } from './header.ts'

/** Maximum size of a JSON body, unless the endpoint has its own. */
export const MAX_BODY_BYTES = 1024 * 1024

/** Bodies are never decompressed: a small body must not become a large one. */
const NOT_ENCODED = /^(identity)?$/i

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/**
 * Rejects an unsupported media type (415, or 400 if the endpoint is lenient) and a content coding
 * (415).
 */
export function requireType(
  c: Context,
  { lenient, form }: Pick<Endpoint, 'form'> & { readonly lenient?: true | undefined },
): void {
  const type = headerOf(c, 'content-type')
  if (type !== 'application/json' && !JSON_TYPE.test(type ?? '') && !(form && isForm(c))) {
    const code = lenient ? 'invalid_request' : 'unsupported_media_type'
    const forms = form ? ' or application/x-www-form-urlencoded' : ''
    throw fail(code, `Send Content-Type: application/json${forms}`)
  }
  if (!NOT_ENCODED.test(headerOf(c, 'content-encoding') ?? '')) {
    throw fail('unsupported_media_type', 'Send the body without Content-Encoding', {
      headers: { 'Accept-Encoding': 'identity' },
    })
  }
}

/** Returns the bytes of a body that the endpoint accepts; see `requireType` and `readBytes`. */
export async function readBody(c: Context, endpoint: Endpoint): Promise<Uint8Array> {
  requireType(c, endpoint)
  return readBytes(c, endpoint.maxBodyBytes ?? MAX_BODY_BYTES)
}

/** Returns the bytes of a request body; throws 413 above `maxBytes`. */
export async function readBytes(c: Context, maxBytes: number): Promise<Uint8Array> {
  if (Number(headerOf(c, 'content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
  const incoming = incomingOf(c)
  // Node's own stream returns the bytes unchanged; the Request around it would copy them.
  return incoming ? readIncoming(incoming, maxBytes) : readRequest(c.req.raw, maxBytes)
}

/** Returns true if the media type of the body is a form. */
export const isForm = (c: Context): boolean => FORM_TYPE.test(headerOf(c, 'content-type') ?? '')

/** Also counts the bytes of a body without a declared length. */
function readIncoming(incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxBytes) chunks.push(chunk)
      else {
        incoming.off('data', onData)
        reject(tooLarge(maxBytes))
      }
    }
    const onEnd = () =>
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks))
    // `close` also follows a normal end; an unused error is still expensive to create.
    const onBreak = () => {
      if (!incoming.readableEnded) reject(invalid('body', 'was not received completely'))
    }
    // A client that has disconnected sends no further event.
    if (incoming.destroyed) return reject(invalid('body', 'was not received completely'))
    incoming.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak)
  })
}

async function readRequest(request: Request, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  // In chunks, because a body without a declared length may be endless.
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const tooLarge = (maxBytes: number): Failure =>
  fail('body_too_large', `The body must not exceed ${maxBytes} bytes`)
