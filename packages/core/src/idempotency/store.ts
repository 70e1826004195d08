import type { Database } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'
import { fail } from '../base/errors.ts'
import type { Claim, StoredAnswer } from './claim.ts'

type Db = Database<CoreTables>
export const KEPT_MS = 24 * 60 * 60 * 1000

/** Status of an answer that was erased; nothing else that is kept has it. */
const ERASED = 410

/**
 * The stored answer of a claim's key, or null when the key is free (also after 24 hours).
 * Throws `idempotency_mismatch` when the key belongs to another request, and `answer_erased`.
 */
export async function findAnswer(
  db: Db,
  orgId: string,
  claim: Claim,
  nowMs: number,
): Promise<StoredAnswer | null> {
  const row = await db
    .selectFrom('idempotency_key')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('key', '=', claim.key)
    .where('created_at', '>', new Date(nowMs - KEPT_MS).toISOString())
    .executeTakeFirst()
  if (!row) return null
  if (row.request_hash !== claim.requestHash) throw fail('idempotency_mismatch')
  if (row.status === ERASED) throw fail('answer_erased')
  return {
    status: row.status,
    headers: JSON.parse(row.headers) as Record<string, string>,
    body: row.body,
  }
}

/** Keeps an answer under the claim's key; replaces one that is older than 24 hours. */
export async function keepAnswer(
  db: Db,
  orgId: string,
  claim: Claim,
  answer: StoredAnswer,
  nowMs: number,
): Promise<void> {
  const kept = {
    request_hash: claim.requestHash,
    status: answer.status,
    headers: JSON.stringify(answer.headers),
    body: answer.body,
    created_at: new Date(nowMs).toISOString(),
  }
  await db
    .insertInto('idempotency_key')
    .values({ org_id: orgId, key: claim.key, ...kept })
    .onConflict((conflict) => conflict.columns(['org_id', 'key']).doUpdateSet(kept))
    .execute()
}

/**
 * Erases the kept answers that hold one of these texts, such as the hash of an entry. Their keys stay
 * taken: what was done once must not be done again.
 */
export async function eraseAnswers(db: Db, orgId: string, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    await db
      .updateTable('idempotency_key')
      .set({ status: ERASED, headers: '{}', body: '' })
      .where('org_id', '=', orgId)
      .where('body', 'like', `%${text}%`)
      .execute()
  }
}

/** Removes what is older than 24 hours; returns how many rows. */
export async function forgetAnswers(db: Db, nowMs: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('idempotency_key')
    .where('created_at', '<=', new Date(nowMs - KEPT_MS).toISOString())
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
