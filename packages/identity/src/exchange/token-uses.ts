import { createHash } from 'node:crypto'
import type { IssuerTerms } from '@remit/contract'
import { isoTime } from '@remit/core/base'
import { on } from '@remit/core/db'
import type { LedgerScope } from '@remit/core/ledger/lanes'
import type { Tables } from '../tables/schema.ts'
import type { TokenFacts } from './subject-token.ts'

const SUBJECT_REST_MS = 60_000

/** The key of a single use, and its end (milliseconds). */
export interface TokenUse {
  readonly key: string
  readonly until: number
}

/**
 * By issuer and token id, not by the token's text: an ECDSA signature has two encodings. Where
 * tokens may be reused, the subject is limited to one exchange per minute.
 */
export function useOf(
  issuer: string,
  { subject, jti, expiresAt }: TokenFacts,
  terms: Pick<IssuerTerms, 'replay' | 'clock_skew_seconds'>,
  signed: string,
  now: number,
): TokenUse {
  if (terms.replay === 'until_exp')
    return { key: digest('sub', issuer, subject), until: now + SUBJECT_REST_MS }
  const until = (expiresAt + terms.clock_skew_seconds) * 1000
  return { key: jti === null ? digest('text', issuer, signed) : digest('jti', issuer, jti), until }
}

/** SHA-256 over unambiguously separated parts. */
export const digest = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url')

/** Claims a token; returns false, and writes nothing, if it was used before. */
export async function takeOnce(
  { tx, orgId, recordedAt }: LedgerScope,
  { key, until }: TokenUse,
): Promise<boolean> {
  await on<Tables>(tx)
    .deleteFrom('token_use')
    .where('org_id', '=', orgId)
    .where('expires_at', '<=', recordedAt)
    .execute()
  const taken = await on<Tables>(tx)
    .insertInto('token_use')
    .values({ org_id: orgId, use_key: key, expires_at: isoTime(until) })
    .onConflict((conflict) => conflict.columns(['org_id', 'use_key']).doNothing())
    .returning('use_key')
    .executeTakeFirst()
  return taken !== undefined
}
