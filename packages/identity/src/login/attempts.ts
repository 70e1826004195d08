import { SecretUnreadable } from '@remit/core/secrets'
import type { SecretBox } from '@remit/core/secrets'
import type { Challenge } from './provider.ts'

const ATTEMPT_MS = 10 * 60 * 1000
const PLACE = 'login attempt'

/** A sign-in on its way through the identity provider. */
export interface Attempt extends Challenge {
  /** The organization that the person chose. */
  readonly orgId: string | null
  /** Id of the organization's own provider that signs in; null for that of the server. */
  readonly providerId: string | null
  /** The person asked for a new organization, if none knows the account. */
  readonly signsUp: boolean
  /** The page of the console to open afterwards. */
  readonly next: string
}

/**
 * Returns the cookie that binds an attempt to a browser: the attempt itself, encrypted. Nothing is
 * stored, because anybody can begin attempts. The provider accepts a code once (RFC 6749 §4.1.2), so
 * an attempt cannot finish twice.
 */
export const sealAttempt = (secrets: SecretBox, attempt: Attempt, now: number): string =>
  secrets.seal(JSON.stringify({ ...attempt, end: now + ATTEMPT_MS }), PLACE)

/** Returns the attempt of a cookie; null if it is too old or was not sealed here. */
export function openAttempt(secrets: SecretBox, cookie: string, now: number): Attempt | null {
  try {
    const attempt = JSON.parse(secrets.open(cookie, PLACE)) as Attempt & { readonly end: number }
    return now < attempt.end ? attempt : null
  } catch (error) {
    if (error instanceof SecretUnreadable) return null
    throw error
  }
}
