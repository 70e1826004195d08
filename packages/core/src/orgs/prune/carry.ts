import { recording } from '../../ledger/write/work.ts'
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Database } from '../../db/open.ts'
import type { CoreTables } from '../../db/schema.ts'
import { SYSTEM } from '../../caller/caller.ts'
import { CARRIED_KIND, carriedDraft, parseCarried } from '../../ledger/format/carried.ts'
import type { CarriedEntry, CarriedHeader } from '../../ledger/format/carried.ts'
import { CarrySelection } from '../../ledger/write/carry-selection.ts'
import type { EntryDraft } from '../../ledger/format/draft.ts'
import { carriedEntries } from '../../ledger/store/cut.ts'
import { readEntries } from '../../ledger/store/store.ts'
import type { Writer } from '../../ledger/write/writer.ts'
import { OPERATOR } from '../administration.ts'
import type { PrunePlan } from './plan.ts'
import { writeNewFile } from '../../base/files.ts'

/** Of up to 256 KiB each. */
const PAGE = 250

/** Per transaction, because other requests of the organization wait for it. */
const MAX_DRAFTS = 200
const MAX_CHARACTERS = 1_000_000

/**
 * Appends `state.carried` for pruned state that is not yet carried above the cut, for example by an
 * interrupted pruning. Returns the number of carried entries for this cut.
 */
export async function carryOver(
  db: Database<CoreTables>,
  writer: Writer,
  { org_id, from_seq, cut, point }: PrunePlan,
  onProgress: (done: number) => void,
): Promise<number> {
  const carrying = new CarrySelection(point.recorded_at)
  const carrier = new Carrier(writer, org_id)
  for await (const entry of carriedEntries(db, org_id, { from: cut })) {
    const found = parseCarried(entry)
    if (found === null || found.seq >= cut) continue
    carrier.has(found)
    carrying.keep(found)
  }
  for await (const entry of carriedEntries(db, org_id, { from: from_seq, below: cut }))
    await carrier.take(carrying.add(entry))
  let count = 0
  for (let next = from_seq; next < cut;) {
    const entries = await readEntries(db, org_id, next, Math.min(PAGE, cut - next))
    for (const entry of entries)
      if (entry.kind !== CARRIED_KIND) await carrier.take(carrying.add(entry))
    count += entries.length
    onProgress(count)
    next = (entries.at(-1)?.seq ?? cut) + 1
  }
  for (const entry of carrying.rest()) await carrier.take(entry)
  await carrier.flush()
  return carrier.size
}

/** Appends carried entries in batches, each entry once. */
class Carrier {
  readonly #writer: Writer
  readonly #orgId: string
  readonly #carried = new Set<number>()
  #drafts: EntryDraft[] = []
  #characters = 0

  constructor(writer: Writer, orgId: string) {
    this.#writer = writer
    this.#orgId = orgId
  }

  /** Number of carried entries, including earlier ones. */
  get size(): number {
    return this.#carried.size
  }

  /** Records an entry that is already carried. */
  has({ seq }: CarriedEntry | CarriedHeader): void {
    this.#carried.add(seq)
  }

  async take(entry: CarriedEntry | CarriedHeader | null): Promise<void> {
    if (entry === null || this.#carried.has(entry.seq)) return
    this.#carried.add(entry.seq)
    this.#drafts.push(carriedDraft(entry, SYSTEM))
    this.#characters += JSON.stringify(entry.payload).length
    if (this.#drafts.length >= MAX_DRAFTS || this.#characters >= MAX_CHARACTERS) await this.flush()
  }

  async flush(): Promise<void> {
    const entries = this.#drafts
    if (entries.length === 0) return
    ;[this.#drafts, this.#characters] = [[], 0]
    await this.#writer.work(this.#orgId, OPERATOR, () => recording(...entries))
  }
}

/** The destination of pruned entries. */
export interface Archive {
  /** Writes durably and returns the SHA-256 of the bytes, in hex. Never replaces a file. */
  write(text: AsyncIterable<string>): Promise<string>
  /** Reads the written bytes back. */
  read(): AsyncIterable<Uint8Array>
}

/** A file that only its owner can read. It gets its name when it is complete. */
export function fileArchive(path: string): Archive {
  return {
    write: (text) => writeNewFile(path, (partial) => writeText(partial, text)),
    read: () => createReadStream(path),
  }
}

async function writeText(path: string, text: AsyncIterable<string>): Promise<string> {
  const sha256 = createHash('sha256')
  const file = await open(path, 'r+')
  try {
    for await (const part of text) {
      sha256.update(part)
      await file.write(part)
    }
  } finally {
    await file.close()
  }
  return sha256.digest('hex')
}
