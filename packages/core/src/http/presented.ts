import type { Endpoint } from '@remit/contract'
import type { Context } from 'hono'
import { Failure, fail } from '../base/errors.ts'
import { parseKey } from '../keys/key-text.ts'
import { readCookie } from '../sessions/cookie.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { readFields } from './bodies.ts'
import { headerOf } from './header.ts'

/** The authentication of a request. */
export interface Presented {
  /** As an `Authorization: Bearer` header; undefined if nothing was sent. */
  readonly header: string | undefined
  /** The session's cookie; only without a key, and never at an OAuth endpoint. */
  readonly session?: string
  /** The body, if it had to be read for the authentication; its error is not reported yet. */
  readonly body?: Promise<Uint8Array>
  /** The request used HTTP Basic, so a refusal must name that scheme (RFC 6749 §5.2). */
  readonly isBasic?: true
}

/** Matches no key. */
const NO_KEY = 'Bearer -'

/**
 * Returns the key of a request: `Authorization` or `X-API-Key`. Throws `invalid_request` for both: a
 * proxy may have checked the other one than we would.
 */
export function presentedKey(c: Context): string | undefined {
  const header = c.req.header('authorization')
  const key = headerOf(c, 'x-api-key')
  if (header !== undefined && key !== undefined) throw twoKeys('X-API-Key')
  return key === undefined ? header : `Bearer ${key}`
}

const twoKeys = (other: string): Failure =>
  fail('invalid_request', `The request has two keys: send Authorization or ${other}, not both`)

/** Returns the key of a request, or else the cookie of its session. */
export function presentedBy(c: Context, { settings }: Sessions): Presented {
  const header = presentedKey(c)
  if (header !== undefined) return { header }
  const cookies = headerOf(c, 'cookie')
  const place = cookies === undefined ? null : settings.place()
  const session = place && readCookie(cookies ?? '', place)
  return { header, ...(session && { session }) }
}

/**
 * Returns the client authentication of an OAuth endpoint (RFC 6749 §2.3.1): Bearer,
 * `client_secret_basic` or `client_secret_post`, but one of them. `client_id` is the id of an ingest key
 * and `client_secret` the key.
 *
 * `read` reads the body; it is called at most once.
 */
export async function presentedByClient(
  c: Context,
  endpoint: Endpoint,
  read: () => Promise<Uint8Array>,
): Promise<Presented> {
  const header = presentedKey(c)
  const body = read()
  const { client_id: id, client_secret: secret } = await body
    .then((bytes) => readFields(endpoint, c, bytes) as Readonly<Record<string, unknown>>)
    .catch((): Readonly<Record<string, unknown>> => ({}))
  if (header === undefined)
    return { header: secret === undefined ? undefined : bearer(id, secret), body }
  if (secret !== undefined) throw twoKeys('client_secret')
  if (!/^Basic(?: |$)/i.test(header)) return { header, body }
  const [, encoded] = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(header) ?? []
  return { header: encoded === undefined ? NO_KEY : fromBasic(encoded), isBasic: true, body }
}

/** Adds the Basic scheme to a refusal of HTTP Basic credentials; returns other errors unchanged. */
export const basicRefusal = (error: unknown): unknown =>
  error instanceof Failure && error.code === 'unauthorized'
    ? fail('unauthorized', error.message, {
        headers: { 'WWW-Authenticate': 'Basic realm="remit", charset="UTF-8"' },
      })
    : error

const bearer = (id: unknown, secret: unknown): string =>
  typeof secret === 'string' && parseKey(secret)?.id === id ? `Bearer ${secret}` : NO_KEY

/** Both parts are form-encoded inside of Basic (RFC 6749 §2.3.1). */
function fromBasic(encoded: string): string {
  const [, id = '', secret = ''] =
    /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
  try {
    return bearer(formDecoded(id), formDecoded(secret))
  } catch {
    return NO_KEY
  }
}

const formDecoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '))
