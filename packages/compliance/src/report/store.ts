import { hash } from 'node:crypto'
import { inPart, on, orgTable } from '@remit/core/db'
import type { AnyDatabase, Part } from '@remit/core/db'
import { ReadyReport } from '@remit/contract'
import { canonicalJson } from '@remit/contract/json'
import { fail } from '@remit/core/base'
import type { Tables } from '../tables/schema.ts'
import type { ReportHead, ReportRow } from '../tables/reports.ts'

const HEAD = [
  'org_id',
  'id',
  'status',
  'framework',
  'period_from',
  'period_to',
  'scope',
  'requested_at',
  'requested_by',
  'requested_person',
  'claim_key',
  'claim_hash',
  'held_until',
  'attempts',
  'failure',
  'generated_at',
  'content_sha256',
  'csv_sha256',
  'record_seq',
  'head',
  'summary',
  'verified',
  'evaluation',
] as const satisfies readonly (keyof ReportHead)[]

/** Returns false, and writes nothing, if another report has the same `Idempotency-Key`. */
export async function insertReport(db: AnyDatabase, row: ReportRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await on<Tables>(db)
    .insertInto('compliance_report')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return Number(numInsertedOrUpdatedRows) > 0
}

const reports = orgTable<Tables, 'compliance_report'>('compliance_report', 'id')

export const findReport = reports.find

export const findClaimed = (
  db: AnyDatabase,
  orgId: string,
  claimKey: string,
): Promise<ReportHead | undefined> =>
  on<Tables>(db)
    .selectFrom('compliance_report')
    .select(HEAD)
    .where('org_id', '=', orgId)
    .where('claim_key', '=', claimKey)
    .executeTakeFirst()

/** Newest first, before `beforeId`: ids sort by creation time. */
export async function listReports(
  db: AnyDatabase,
  orgId: string,
  options: { limit: number; beforeId?: string | undefined },
): Promise<ReportHead[]> {
  let query = on<Tables>(db)
    .selectFrom('compliance_report')
    .select(HEAD)
    .where('org_id', '=', orgId)
    .orderBy('id', 'desc')
    .limit(options.limit)
  if (options.beforeId !== undefined) query = query.where('id', '<', options.beforeId)
  return query.execute()
}

/** Changes a report that is being generated; returns false if it is not, or if its lease changed. */
export async function updateGenerating(
  db: AnyDatabase,
  { org_id, id, held_until }: Pick<ReportRow, 'org_id' | 'id' | 'held_until'>,
  change: Partial<Omit<ReportRow, 'org_id' | 'id'>>,
): Promise<boolean> {
  const where = { status: 'generating', held_until } as const
  return (await reports.change(db, org_id, id, change, where)) !== undefined
}

/** Releases the idempotency key of a report requested before `before`. */
export const forgetClaim = async (
  db: AnyDatabase,
  orgId: string,
  claimKey: string,
  before: string,
): Promise<void> => {
  await on<Tables>(db)
    .updateTable('compliance_report')
    .set({ claim_key: null, claim_hash: null })
    .where('org_id', '=', orgId)
    .where('claim_key', '=', claimKey)
    .where('requested_at', '<', before)
    .execute()
}

/** Reports of a part with an expired lease. */
export const findAbandoned = (
  db: AnyDatabase,
  part: Part,
  now: number,
  limit: number,
): Promise<ReportHead[]> =>
  on<Tables>(db)
    .selectFrom('compliance_report')
    .select(HEAD)
    .where(inPart(part))
    .where('status', '=', 'generating')
    .where('held_until', '<=', now)
    .orderBy('held_until')
    .limit(limit)
    .execute()

/** Deletes a report without a lease. */
export const deleteLeft = async (
  db: AnyDatabase,
  { org_id, id }: Pick<ReportRow, 'org_id' | 'id'>,
): Promise<void> => {
  await on<Tables>(db)
    .deleteFrom('compliance_report')
    .where('org_id', '=', org_id)
    .where('id', '=', id)
    .where('status', '=', 'generating')
    .where('held_until', '=', 0)
    .execute()
}

/** Kind and time of entries, in order; entries that are no longer kept are omitted. */
export const findEntries = (db: AnyDatabase, orgId: string, seqs: readonly number[]) =>
  on<Tables>(db)
    .selectFrom('ledger_entry')
    .select(['seq', 'kind', 'recorded_at'])
    .where('org_id', '=', orgId)
    .where('seq', 'in', seqs)
    .orderBy('seq')
    .execute()

/** A finished report as stored. */
export interface StoredReport {
  readonly report: ReadyReport
  /** The hashed bytes of its content. */
  readonly content: string
  /** The hashed bytes of its controls as CSV. */
  readonly csv: string
}

/**
 * A finished report; null for every other one. Refuses rows that are not a report or do not match
 * their hashes; the verification checks the rest.
 */
export function storedOf(row: ReportRow): StoredReport | null {
  if (row.status !== 'ready') return null
  const { content, csv } = row
  const report = reportIn(row)
  if (!report || typeof content !== 'string' || typeof csv !== 'string')
    throw fail('report_changed')
  const isSealed =
    textOf(report) === content &&
    hash('sha256', content, 'hex') === report.content_sha256 &&
    hash('sha256', csv, 'hex') === report.csv_sha256
  if (!isSealed) throw fail('report_changed')
  return { report, content, csv }
}

/** The document of a row; null if it has none. */
function reportIn(row: ReportRow): ReadyReport | null {
  const { id, framework, generated_at, content_sha256, csv_sha256, record_seq } = row
  const document = {
    id,
    framework,
    period: { from: row.period_from, to: row.period_to },
    status: 'ready',
    generated_at,
    generated_by: jsonIn(row.requested_by),
    generated_by_person: row.requested_person,
    evaluation: row.evaluation === 1,
    content_sha256,
    csv_sha256,
    record_seq,
    ledger_head: jsonIn(row.head),
    content: jsonIn(row.content),
  }
  return ReadyReport.safeParse(document).success ? (document as ReadyReport) : null
}

/** The canonical text of the content; null if it has none. */
function textOf({ content }: ReadyReport): string | null {
  try {
    return canonicalJson(content)
  } catch {
    return null
  }
}

/** Parses a column; undefined if it is invalid. */
export function jsonIn(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null')
  } catch {
    return undefined
  }
}
