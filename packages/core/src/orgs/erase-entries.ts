import type { Database } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'
import { emptyLog, overwriteDeleted } from '../db/scrub.ts'
import { fail } from '../base/errors.ts'
import type { Failure } from '../base/errors.ts'
import { eraseAnswers, KEPT_MS } from '../idempotency/store.ts'
import { SYSTEM } from '../caller/caller.ts'
import { carriedDraft, parseCarried, toCarriedHeader } from '../ledger/format/carried.ts'
import { isEventKind } from '../ledger/write/carry-selection.ts'
import { findCut, clearPayloads, readSome, sameContent } from '../ledger/store/cut.ts'
import type { EntryDraft } from '../ledger/format/draft.ts'
import type { StoredEntry } from '../ledger/format/entry.ts'
import type { Eraser } from '../ledger/write/eraser.ts'
import { firstOf } from '../ledger/write/work.ts'
import type { LedgerScope } from '../ledger/write/work.ts'
import type { Writer } from '../ledger/write/writer.ts'
import { OPERATOR } from './administration.ts'

/** Maximum entries per erasure. */
const MAX_ERASED = 1_000

export interface EraseOptions {
  readonly seqs: readonly number[]
  readonly reason: string
  /** The person who ordered the erasure. */
  readonly person?: string | undefined
}

export interface Erasure {
  /** Position of the entry that records the erasure. */
  readonly seq: number
  /** All erased entries, including carried copies of the named ones. */
  readonly seqs: readonly number[]
  /** False while SQLite's write-ahead log still contains old pages. */
  readonly log_emptied: boolean
}

export interface EraseDeps {
  readonly db: Database<CoreTables>
  readonly writer: Writer
  readonly erasers: readonly Eraser[]
}

/**
 * Erases the payloads of entries and all copies of them: filter columns, carried copies, stored
 * responses, and the copies of modules. The entry `ledger.erased` that explains it is written in
 * the same transaction, and the headers of pruned entries that only existed in carried copies are
 * carried again. Throws a failure that names every entry that is missing, already erased or belongs
 * to the ledger itself; then nothing is erased.
 */
export async function eraseEntries(
  { db, writer, erasers }: EraseDeps,
  orgId: string,
  { seqs, reason, person }: EraseOptions,
): Promise<Erasure> {
  const named = [...new Set(seqs)].toSorted((a, b) => a - b)
  if (named.length === 0 || named.length > MAX_ERASED) {
    throw fail('invalid_request', `An erasure must name 1 to ${MAX_ERASED} entries`)
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

/** Returns the headers of the pruned entries that some entries carry, each once. */
function headersIn(entries: readonly StoredEntry[], begin: number): EntryDraft[] {
  const headers = new Map<number, EntryDraft>()
  for (const entry of entries) {
    const carried = parseCarried(entry)
    if (!carried || carried.payload === null || carried.seq >= begin) continue
    if (!isEventKind(carried.kind))
      headers.set(carried.seq, carriedDraft(toCarriedHeader(carried), SYSTEM))
  }
  return [...headers.values()]
}

/**
 * Returns the named entries and their copies, in order; `begin` is the first entry that is not
 * pruned.
 */
async function erasable(
  scope: LedgerScope,
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
  { tx, orgId }: LedgerScope,
  seqs: readonly number[],
  begin: number,
): Promise<StoredEntry[]> {
  const found = new Map((await readSome(tx, orgId, seqs)).map((entry) => [entry.seq, entry]))
  const entries: StoredEntry[] = []
  const faults: string[] = []
  for (const seq of seqs) {
    const entry = found.get(seq)
    const fault = seq < begin ? `was pruned, like all entries below ${begin}` : faultOf(entry)
    if (entry !== undefined && fault === null) entries.push(entry)
    else faults.push(`${seq} ${fault}`)
  }
  if (faults.length > 0) throw refusal(faults)
  return entries
}

function faultOf(entry: StoredEntry | undefined): string | null {
  if (!entry) return 'is not in the ledger'
  if (entry.kind.startsWith('ledger.')) {
    return `has the kind ${entry.kind}: entries about the ledger itself cannot be erased`
  }
  // Without the hash of a stored report, the report could be changed.
  if (entry.kind === 'report.generated') {
    return 'has the kind report.generated: it is the proof of a stored report'
  }
  if (parseCarried(entry)?.payload === null) return 'has no payload, only a carried header'
  return entry.payload === null ? 'is already erased' : null
}

const SHOWN = 10

function refusal(faults: readonly string[]): Failure {
  const shown = faults.slice(0, SHOWN).map((fault) => `entry ${fault}`)
  const more = faults.length > SHOWN ? `, and ${faults.length - SHOWN} more` : ''
  return fail('invalid_request', `Nothing was erased: ${shown.join('; ')}${more}`)
}

/** Responses are stored for a day, and contain the hash of their entry. */
const hashesInAnswers = (entries: readonly StoredEntry[], now: number): string[] =>
  entries.flatMap(({ hash, recorded_at }) =>
    Date.parse(recorded_at) > now - KEPT_MS ? [hash] : [],
  )
