import type { Db } from '../db/open.ts'
import { inPart } from '../db/parts.ts'
import type { Part } from '../db/parts.ts'
import { statement } from '../db/portable.ts'
import type { IdempotencyRow } from '../db/schema.ts'
import { fail } from '../base/errors.ts'
import type { IdempotencyClaim, StoredAnswer } from './claim.ts'

export const KEPT_MS = 24 * 60 * 60 * 1000

/** Status of an erased response; no other stored response has it. */
const ERASED = 410

const selectAnswer = statement<IdempotencyRow>(
  'select * from idempotency_key where org_id = ? and key = ? and created_at > ?',
)
const putAnswer = statement<never>(`insert into idempotency_key
  (org_id, key, request_hash, status, headers, body, created_at) values (?, ?, ?, ?, ?, ?, ?)
  on conflict (org_id, key) do update set request_hash = excluded.request_hash, status = excluded.status,
  headers = excluded.headers, body = excluded.body, created_at = excluded.created_at`)

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
  const since = new Date(nowMs - KEPT_MS).toISOString()
  const [row] = await selectAnswer(db, [orgId, claim.key, since])
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
  const { status, headers, body } = answer
  const at = new Date(nowMs).toISOString()
  const { key, requestHash } = claim
  await putAnswer(db, [orgId, key, requestHash, status, JSON.stringify(headers), body, at])
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
