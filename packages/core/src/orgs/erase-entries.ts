import type { Database } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'
import { emptyLog, overwriteDeleted } from '../db/scrub.ts'
import { fail } from '../base/errors.ts'
import type { Failure } from '../base/errors.ts'
import { eraseAnswers, KEPT_MS } from '../idempotency/store.ts'
import { SYSTEM } from '../caller/actor.ts'
import { carriedDraft, parseCarried, toHeader } from '../ledger/format/carried.ts'
import { isHappening } from '../ledger/write/carrying.ts'
import { findCut } from '../ledger/store/cut.ts'
import type { EntryDraft } from '../ledger/format/draft.ts'
import type { StoredEntry } from '../ledger/format/entry.ts'
import type { Eraser } from '../ledger/write/eraser.ts'
import { clearPayloads, readSome, sameContent } from '../ledger/store/erasure-store.ts'
import { firstOf } from '../ledger/write/work.ts'
import type { Scope } from '../ledger/write/work.ts'
import type { Writer } from '../ledger/write/writer.ts'
import { OPERATOR } from './administration.ts'

/** Entries in one erasure at most. */
const MAX_ERASED = 1_000

export interface EraseOptions {
  readonly seqs: readonly number[]
  readonly reason: string
  /** The person by whose word it is done. */
  readonly person?: string | undefined
}

export interface Erasure {
  /** Where the entry stands that tells of it. */
  readonly seq: number
  /** All that were erased, also those that said the same as the ones that were named. */
  readonly seqs: readonly number[]
  /** False while SQLite's write-ahead log still holds pages as they were before. */
  readonly log_emptied: boolean
}

export interface EraseDeps {
  readonly db: Database<CoreTables>
  readonly writer: Writer
  readonly erasers: readonly Eraser[]
}

/**
 * Takes the payloads out of entries, with all that Remit keeps of what they say: the copies in columns
 * beside them, what pruning carried of them, answers kept for repeats, and what the erasers of modules
 * know. The entry `ledger.erased` that explains it is written in the same transaction, and what is left
 * of an entry that only stood in one that carried it is carried on. Throws a failure
 * that names every entry that is not there, was erased before or is the ledger's own, and then nothing
 * is erased.
 */
export async function eraseEntries(
  { db, writer, erasers }: EraseDeps,
  orgId: string,
  { seqs, reason, person }: EraseOptions,
): Promise<Erasure> {
  const named = [...new Set(seqs)].toSorted((a, b) => a - b)
  if (named.length === 0 || named.length > MAX_ERASED) {
    throw fail('invalid_request', `One erasure is of 1 to ${MAX_ERASED} entries`)
  }
  const done = await writer.work(orgId, OPERATOR, async (scope) => {
    const begin = (await findCut(scope.tx, orgId))?.size ?? 0
    const all = await erasable(scope, named, begin)
    for (const eraser of erasers) await eraser.erase(all, scope)
    const erased = all.map(({ seq }) => seq)
    await overwriteDeleted(scope.tx)
    await eraseAnswers(scope.tx, orgId, hashesInAnswers(all, scope.now))
    await clearPayloads(scope.tx, orgId, erased)
    const data = { seqs: erased, reason, ...(person !== undefined && { person }) }
    return {
      entries: [{ kind: 'ledger.erased', actor: SYSTEM, data }, ...headersIn(all, begin)],
      reply: (recorded) => ({ seq: firstOf(recorded).row.seq, seqs: erased }),
    }
  })
  return { ...done, log_emptied: await emptyLog(db) }
}

/** The headers of the pruned entries that some entries carry: each once. */
function headersIn(entries: readonly StoredEntry[], begin: number): EntryDraft[] {
  const headers = new Map<number, EntryDraft>()
  for (const entry of entries) {
    const carried = parseCarried(entry)
    if (!carried || carried.payload === null || carried.seq >= begin) continue
    if (!isHappening(carried.kind))
      headers.set(carried.seq, carriedDraft(toHeader(carried), SYSTEM))
  }
  return [...headers.values()]
}

/** The named entries, and those that say the same, in order; `begin`: the first that is not pruned. */
async function erasable(
  scope: Scope,
  seqs: readonly number[],
  begin: number,
): Promise<StoredEntry[]> {
  const { tx, orgId } = scope
  const named = await namedEntries(scope, seqs, begin)
  const same = await sameContent(tx, orgId, named)
  const others = same.length === 0 ? [] : await readSome(tx, orgId, same)
  return [...named, ...others.filter(({ payload }) => payload !== null)].toSorted(
    (one, other) => one.seq - other.seq,
  )
}

async function namedEntries(
  { tx, orgId }: Scope,
  seqs: readonly number[],
  begin: number,
): Promise<StoredEntry[]> {
  const found = new Map((await readSome(tx, orgId, seqs)).map((entry) => [entry.seq, entry]))
  const entries: StoredEntry[] = []
  const faults: string[] = []
  for (const seq of seqs) {
    const entry = found.get(seq)
    const fault = seq < begin ? `was pruned, with all below ${begin}` : faultOf(entry)
    if (entry !== undefined && fault === null) entries.push(entry)
    else faults.push(`${seq} ${fault}`)
  }
  if (faults.length > 0) throw refusal(faults)
  return entries
}

function faultOf(entry: StoredEntry | undefined): string | null {
  if (!entry) return 'is not in the ledger'
  if (entry.kind.startsWith('ledger.')) {
    return `is ${entry.kind}: what the ledger says of itself is never erased`
  }
  // Whoever could take away the hash of a stored report could change the report.
  if (entry.kind === 'report.generated') {
    return 'is report.generated: it vouches for a report, which could be changed unseen without it'
  }
  if (parseCarried(entry)?.payload === null) return 'carries nothing but a header'
  return entry.payload === null ? 'was erased before' : null
}

const SHOWN = 10

function refusal(faults: readonly string[]): Failure {
  const shown = faults.slice(0, SHOWN).map((fault) => `entry ${fault}`)
  const more = faults.length > SHOWN ? `, and ${faults.length - SHOWN} more` : ''
  return fail('invalid_request', `Nothing was erased: ${shown.join('; ')}${more}`)
}

/** Answers are kept for a day, and name the entry that they are about by its hash. */
const hashesInAnswers = (entries: readonly StoredEntry[], now: number): string[] =>
  entries.flatMap(({ hash, recorded_at }) =>
    Date.parse(recorded_at) > now - KEPT_MS ? [hash] : [],
  )
