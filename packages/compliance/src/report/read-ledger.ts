import type { Database } from '@remit/core/db/open'
import type { OnProgress } from '@remit/core/module'
import { invalid, isoTime } from '@remit/core/base'
import { Fold, noteOf, seqsIn, SeqGatherer } from '../facts/index.ts'
import type { EntryNote, FactRow, ExternalFacts, FactsQuery, SeqRun } from '../facts/index.ts'
import type { Tables } from '../tables/schema.ts'
import { readCarriedEntries } from '../verify/carried-entries.ts'
import { chainFactsOf, PeriodEnd } from '../verify/chain-facts.ts'
import { checkLedger } from '../verify/check-ledger.ts'
import type { VerificationTrust, EvidenceRequest, LedgerCheck, ReportFacts } from '../jobs/jobs.ts'

type Db = Database<Tables>

/** The input of a report. */
export async function readReportFacts(
  db: Db,
  orgId: string,
  question: FactsQuery,
  trust: VerificationTrust,
  onProgress: OnProgress,
): Promise<ReportFacts> {
  const fold = new Fold(question)
  const { check, outside, carried } = await readAll(db, orgId, question, trust, fold, onProgress)
  const facts = fold.end(outside)
  const entries = await readNotes(db, orgId, seqsIn(facts), fold.state, carried)
  const { ledger, reports } = check
  const { first_invalid, head, checkpoints } = ledger
  const bad = [first_invalid?.seq, reports.errors[0]?.seq].filter((seq) => seq !== undefined)
  return {
    facts: { ...facts, entries },
    head: {
      size: head.seq + 1,
      hash: head.hash,
      verified: ledger.status === 'ok' && reports.mismatched === 0,
      first_bad_seq: bad.length === 0 ? null : Math.min(...bad),
      anchors_checked: checkpoints.checked + reports.checked,
    },
    check,
  }
}

/**
 * The numbers of the entries behind a control or a check, read like the report: unverified entries
 * are included.
 */
export async function readEvidence(
  db: Db,
  orgId: string,
  { question, of, afterSeq, most }: EvidenceRequest,
  trust: VerificationTrust,
  onProgress: OnProgress,
): Promise<SeqRun> {
  const into = new SeqGatherer(afterSeq, most)
  const fold = new Fold(question, { collect: { ...of, into } })
  const { outside } = await readAll(db, orgId, question, trust, fold, onProgress)
  fold.end(outside)
  return into.run
}

/** One pass over the whole ledger into a fold, with the chain facts for the period of a question. */
async function readAll(
  db: Db,
  orgId: string,
  question: FactsQuery,
  trust: VerificationTrust,
  fold: Fold,
  onProgress: OnProgress,
): Promise<{ check: LedgerCheck; outside: ExternalFacts; carried: readonly FactRow[] }> {
  const carried = await readCarriedEntries(db, orgId)
  for (const row of carried.rows) fold.carry(row)
  const end = new PeriodEnd(question.to)
  const { check, recorded } = await checkLedger(db, orgId, {}, trust, {
    onProgress,
    onEntry(row) {
      end.entry(row)
      fold.entry(row)
    },
  })
  const before = recorded.filter(({ time }) => time < question.to)
  const kept = await countCheckpoints(db, orgId, check.ledger.checked.from_seq, end.lastSeq + 1)
  const { to: carriedTo, keptFrom } = carried
  const readFrom = { end, carriedTo, keptFrom, checkpoints: kept + before.length }
  const chain = chainFactsOf(check.ledger, check.reports, readFrom)
  return { check, outside: { chain, reports: before }, carried: carried.rows }
}

/** Notes on the printed entries; pruned ones are read from carried entries. */
async function readNotes(
  db: Db,
  orgId: string,
  seqs: readonly number[],
  state: Fold['state'],
  carried: readonly FactRow[],
): Promise<Map<number, EntryNote>> {
  const named = new Set(seqs)
  const notes = new Map<number, EntryNote>()
  for (const row of carried) if (named.has(row.seq)) notes.set(row.seq, noteOf(row, state))
  for (let at = 0; at < seqs.length; at += 500) {
    const rows = await db
      .selectFrom('ledger_entry')
      .select(['seq', 'recorded_at', 'kind', 'payload'])
      .where('org_id', '=', orgId)
      .where('seq', 'in', seqs.slice(at, at + 500))
      .execute()
    for (const row of rows) notes.set(row.seq, noteOf(row, state))
  }
  return notes
}

async function countCheckpoints(
  db: Db,
  orgId: string,
  from: number,
  upTo: number,
): Promise<number> {
  const { count } = await db
    .selectFrom('ledger_checkpoint')
    .select((row) => row.fn.countAll().as('count'))
    .where('org_id', '=', orgId)
    .where('size', '>', from)
    .where('size', '<=', upTo)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Half-open [from, to), milliseconds. */
export interface Period {
  readonly from: number
  readonly to: number
}

const DAY_MS = 24 * 60 * 60 * 1000
const DEFAULT_DAYS = 90

/**
 * The requested period; by default the last 90 whole UTC days. A date means a whole UTC day, also
 * as `to`. Throws `invalid_request` for an empty or unfinished period: a reported period must not
 * receive further entries.
 */
export function periodOf(
  asked: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: number,
): Period {
  const to = asked.to === undefined ? midnight(now) : momentOf(asked.to, DAY_MS)
  const from = asked.from === undefined ? to - DEFAULT_DAYS * DAY_MS : momentOf(asked.from, 0)
  if (from < 0) throw invalid('from', 'must not be before 1970')
  if (to > now)
    throw invalid('to', `must not be in the future; the current time is ${isoTime(now)}`)
  if (from >= to)
    throw invalid(
      asked.from === undefined ? 'to' : 'from',
      `must be before the end, ${isoTime(to)}`,
    )
  return { from, to }
}

/** A valid time from the contract; a date as end is extended by `dayEnd`. */
const momentOf = (text: string, dayEnd: number): number =>
  text.includes('T') ? Date.parse(text) : Date.parse(`${text}T00:00:00.000Z`) + dayEnd

const midnight = (ms: number): number => ms - (ms % DAY_MS)
