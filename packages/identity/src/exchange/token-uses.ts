import { createHash } from 'node:crypto'
import type { IssuerTerms } from '@remit/contract'
import { isoTime, on } from '@remit/core'
import type { Scope as WorkScope } from '@remit/core'
import type { Tables } from '../tables/schema.ts'
import type { TokenFacts } from './claims.ts'

const SUBJECT_REST_MS = 60_000

/** What may not be used again, and until when (milliseconds). */
export interface TokenUse {
  readonly key: string
  readonly until: number
}

/**
 * By the issuer and what it calls the token, not by the token's text: an ECDSA signature can be
 * written in two ways. Where tokens may be used again, the subject rests for a minute.
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

/** SHA-256 over parts none of which can run into the next. */
export const digest = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url')

/** Takes a token; false where it was taken before, and then nothing is written. */
export async function takeOnce(
  { tx, orgId, recordedAt }: WorkScope,
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
