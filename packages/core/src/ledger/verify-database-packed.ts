import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import type { CoreTables, LedgerEntryRow } from '../db/schema.ts'

// In no column of a sound entry: canonical JSON escapes it, names and headers may not hold it.
const BETWEEN = '\u0001'
const COLUMNS = 12

/**
 * Up to `limit` entries of PostgreSQL as one text each: a column costs the driver more than hashing it
 * costs us. Null where a column holds what stands between them here; then they are to be read as they
 * are. Above `after`, below `below`, in order.
 */
export async function readPacked(
  db: Database<CoreTables>,
  orgId: string,
  after: number | null,
  below: number,
  limit: number,
): Promise<LedgerEntryRow[] | null> {
  const { rows } = await sql<{ packed: string }>`
    select concat_ws(E'\\x01', seq, prev_hash, hash, recorded_at, kind, commitment,
      coalesce('=' || agent_id, '-'), coalesce('=' || actor_id, '-'), coalesce('=' || action, '-'),
      coalesce('=' || decision, '-'), coalesce('=' || salt, '-'), coalesce('=' || payload, '-')) as packed
    from ledger_entry where org_id = ${orgId} and seq > ${after ?? Number.MIN_SAFE_INTEGER} and seq < ${below}
    order by seq limit ${limit}`.execute(db)
  const entries: LedgerEntryRow[] = []
  for (const { packed } of rows) {
    const entry = unpacked(orgId, packed)
    if (entry === null) return null
    entries.push(entry)
  }
  return entries
}

function unpacked(orgId: string, text: string): LedgerEntryRow | null {
  const parts = text.split(BETWEEN)
  if (parts.length !== COLUMNS) return null
  const [seq, prev_hash = '', hash = '', recorded_at = '', kind = '', commitment = ''] = parts
  return {
    org_id: orgId,
    seq: Number(seq),
    prev_hash,
    hash,
    recorded_at,
    kind,
    commitment,
    salt: nullable(parts[10]),
    payload: nullable(parts[11]),
    agent_id: nullable(parts[6]),
    actor_id: nullable(parts[7]),
    action: nullable(parts[8]),
    decision: nullable(parts[9]),
  }
}

/** `=` and the text, or `-` for null. */
const nullable = (part: string | undefined): string | null =>
  part === undefined || part === '-' ? null : part.slice(1)
