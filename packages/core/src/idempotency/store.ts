import type { Database } from '../db/open.ts'
import { inPart } from '../db/parts.ts'
import type { Part } from '../db/parts.ts'
import type { CoreTables } from '../db/schema.ts'
import { fail } from '../base/errors.ts'
import type { IdempotencyClaim, StoredAnswer } from './claim.ts'

type Db = Database<CoreTables>
export const KEPT_MS = 24 * 60 * 60 * 1000

/** Status of an erased response; no other stored response has it. */
const ERASED = 410

/**
 * Returns the stored response for a key, or null if the key is unused or older than 24 hours.
 * Throws `idempotency_mismatch` if the key belongs to another request, and `answer_erased`.
 */
export async function findAnswer(
  db: Db,
  orgId: string,
  claim: IdempotencyClaim,
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

/** Stores a response under its key; replaces one that is older than 24 hours. */
export async function keepAnswer(
  db: Db,
  orgId: string,
  claim: IdempotencyClaim,
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
 * Erases the stored responses that contain one of these texts, such as the hash of an entry. Their
 * keys remain in use, so that the requests are not executed twice.
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

/** Deletes responses older than 24 hours; returns the number of rows. */
export async function forgetAnswers(db: Db, part: Part, nowMs: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('idempotency_key')
    .where(inPart(part))
    .where('created_at', '<=', new Date(nowMs - KEPT_MS).toISOString())
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
