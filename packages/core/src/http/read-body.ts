import type { IncomingMessage } from 'node:http'
import type { Endpoint } from '@remit/contract'
import type { Context } from 'hono'
import { fail, invalid } from '../base/errors.ts'
import type { Failure } from '../base/errors.ts'
import { FORM_TYPE } from './form.ts'
import { headerOf, incomingOf } from './header.ts'

/** Bytes of a JSON body at most, where the endpoint does not say otherwise. */
export const MAX_BODY_BYTES = 1024 * 1024

/** No coding is decoded: a small body must not become a large one. */
const NOT_ENCODED = /^(identity)?$/i

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/**
 * Refuses a media type that the endpoint does not take (415, or 400 where it is lenient) and a content
 * coding (415).
 */
export function requireType(c: Context, { lenient, form }: Endpoint): void {
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

/** The bytes of a body that the endpoint takes: see `requireType` and `readBytes`. */
export async function readBody(c: Context, endpoint: Endpoint): Promise<Uint8Array> {
  requireType(c, endpoint)
  return readBytes(c, endpoint.maxBodyBytes ?? MAX_BODY_BYTES)
}

/** The bytes of a request's body; 413 above `maxBytes`. */
export async function readBytes(c: Context, maxBytes: number): Promise<Uint8Array> {
  if (Number(headerOf(c, 'content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
  const incoming = incomingOf(c)
  // Node's own stream gives the bytes as they came; the Request around it would copy them.
  return incoming ? readIncoming(incoming, maxBytes) : readRequest(c.req.raw, maxBytes)
}

/** Whether the body says that it is a form. */
export const isForm = (c: Context): boolean => FORM_TYPE.test(headerOf(c, 'content-type') ?? '')

/** Also counts what is sent without a declared length. */
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
    // `close` comes after a good end too; an error that nobody sees is still dear to make.
    const onBreak = () => {
      if (!incoming.readableEnded) reject(invalid('body', 'did not arrive whole'))
    }
    // Who has left meanwhile sends no event any more.
    if (incoming.destroyed) return reject(invalid('body', 'did not arrive whole'))
    incoming.on('data', onData).on('end', onEnd).on('error', onBreak).on('close', onBreak)
  })
}

async function readRequest(request: Request, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  // Piece by piece, since a body without a declared length need not end.
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const tooLarge = (maxBytes: number): Failure =>
  fail('body_too_large', `The body may have at most ${maxBytes} bytes`)
