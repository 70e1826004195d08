import type { Endpoint } from '@remit/contract'
import { fail } from '../base/errors.ts'
import type { StoredAnswer } from '../idempotency/claim.ts'
import { SecretUnreadable } from '../secrets/secret-box.ts'
import type { SecretBox } from '../secrets/secret-box.ts'
import type { Rendered } from './reply.ts'

type Fields = Readonly<Record<string, unknown>>

/** The place of the sealed field in the answer that is kept under a claim's key. */
export const sealPlaceOf = (orgId: string, key: string): string =>
  `idempotency_key/${orgId}/${key}/body`

/**
 * Converts a response for storage: a secret is shown once only, and a sealed field is encrypted.
 */
export function toKept(
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
