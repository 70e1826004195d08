import { hash } from 'node:crypto'
import type { Endpoint } from '@remit/contract'
import { fail } from '../base/errors.ts'
import { principalName } from '../idempotency/claim.ts'
import type { IdempotencyClaim, StoredAnswer } from '../idempotency/claim.ts'
import type { Caller } from '../caller/caller.ts'
import { SecretUnreadable } from '../secrets/secret-box.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import { render } from './endpoint.ts'
import type { Rendered } from './endpoint.ts'

const KEY = /^[ -~]{1,255}$/

/** Kept with an answer, so that a repeat shows which request was carried out. */
const FIRST_REQUEST = 'Idempotency-First-Request-Id'

interface ClaimedRequest {
  readonly id: string
  /** The `Idempotency-Key`. */
  readonly key: string
  readonly url: string
  readonly bytes: Uint8Array | undefined
}

/**
 * The claim of a request on its `Idempotency-Key`. It names the principal: one principal's key neither
 * answers nor blocks another's request. Throws `invalid_idempotency_key`.
 */
export function claimOf(
  endpoint: Endpoint,
  caller: Caller,
  { id, key: given, url, bytes }: ClaimedRequest,
  secrets: SecretBox,
): IdempotencyClaim {
  if (!KEY.test(given)) {
    throw fail(
      'invalid_idempotency_key',
      'Idempotency-Key must be 1 to 255 printable ASCII characters',
    )
  }
  const body = bytes ? hash('sha256', bytes, 'hex') : ''
  const { pathname, search } = new URL(url)
  const key = `${principalName(caller.principal)}\n${given}`
  return {
    key,
    requestHash: hash('sha256', `${endpoint.method} ${pathname}${search}\n${body}`, 'hex'),
    encode(reply) {
      const { headers, ...rest } = render(endpoint, reply)
      const rendered = { ...rest, headers: { ...headers, [FIRST_REQUEST]: id } }
      return toKept(endpoint, rendered, sealPlaceOf(caller.orgId, key), secrets)
    },
  }
}

/** The claims whose first request is still running in this process. */
export class RunningClaims {
  readonly #running = new Map<string, string>()

  /** Runs `work` unless a request with the same key is under way: then 409. */
  async hold<T>(orgId: string, claim: IdempotencyClaim, work: () => Promise<T>): Promise<T> {
    const name = `${orgId} ${claim.key}`
    const other = this.#running.get(name)
    if (other !== undefined)
      throw fail(other === claim.requestHash ? 'idempotency_in_progress' : 'idempotency_mismatch')
    this.#running.set(name, claim.requestHash)
    try {
      return await work()
    } finally {
      this.#running.delete(name)
    }
  }
}

type Fields = Readonly<Record<string, unknown>>

/** The place of the sealed field in the answer that is kept under a claim's key. */
export const sealPlaceOf = (orgId: string, key: string): string =>
  `idempotency_key/${orgId}/${key}/body`

/**
 * Converts a response for storage: a secret is shown once only, and a sealed field is encrypted.
 */
function toKept(
  { path, secretField, sealedField }: Endpoint,
  { body, ...rest }: Rendered,
  place: string,
  secrets: SecretBox,
): StoredAnswer {
  if (body instanceof ReadableStream)
    throw new TypeError(`${path} streams its response, so a repeat cannot be answered from storage`)
  if (!body || (secretField === undefined && sealedField === undefined))
    return { ...rest, body: body ?? '' }
  const fields = JSON.parse(body) as Fields
  const kept = {
    ...fields,
    ...(sealedField !== undefined && {
      [sealedField]: secrets.seal(JSON.stringify(fields[sealedField]), place),
    }),
    ...(secretField !== undefined && { [secretField]: null, secret_available: false }),
  }
  return { ...rest, body: JSON.stringify(kept) }
}

/**
 * Returns the response to a repeat. Throws `answer_erased` if no key of this process opens its
 * sealed field.
 */
export function fromKept(
  { sealedField }: Endpoint,
  kept: StoredAnswer,
  place: string,
  secrets: SecretBox,
): StoredAnswer {
  if (sealedField === undefined) return kept
  const fields = JSON.parse(kept.body) as Fields
  const sealed = String(fields[sealedField])
  // Stored by a version without encryption.
  if (!sealed.startsWith('enc1.')) return kept
  try {
    const value: unknown = JSON.parse(secrets.open(sealed, place))
    return { ...kept, body: JSON.stringify({ ...fields, [sealedField]: value }) }
  } catch (error) {
    if (error instanceof SecretUnreadable)
      throw fail(
        'answer_erased',
        'The key that encrypted the stored response is no longer configured',
      )
    throw error
  }
}
