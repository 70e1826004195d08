import type { Entry, LedgerFilters } from '@remit/contract'
import type { Database } from '../db/open.ts'
import type { CoreTables, LedgerHeadRow } from '../db/schema.ts'
import { fail, invalid } from '../errors.ts'
import type { Failure } from '../errors.ts'
import { openCheckpoint } from './checkpoint.ts'
import type { StoredEntry } from './entry.ts'
import { formatCheckpointLine, formatEntryLine, formatHeaderLine } from './export.ts'
import { listEntries, seqAtTime } from './list.ts'
import { parseVerifierKey } from './note.ts'
import { consistencyProof, inclusionProof, treeRoot } from './proof.ts'
import type { ReadTile } from './proof.ts'
import { findCheckpoint, findHead, readEntries, readTile } from './store.ts'
import { formatTlogProof } from './tlog-proof.ts'
import { wireEntry } from './wire.ts'

const EXPORT_PAGE = 1_000

/** What can be read of the ledgers. Everything is scoped to an organization. */
export class Ledger {
  readonly #db: Database<CoreTables>

  constructor(db: Database<CoreTables>) {
    this.#db = db
  }

  /** The end of the chain as of the last commit. */
  async head(orgId: string): Promise<LedgerHeadRow> {
    const head = await findHead(this.#db, orgId)
    if (!head) throw fail('not_found', 'The organization has no ledger')
    return head
  }

  async list(orgId: string, filters: LedgerFilters) {
    const head = await this.head(orgId)
    const range = await this.#range(orgId, head.size, filters)
    const found = await listEntries(this.#db, orgId, range, {
      ...filters,
      limit: filters.limit + 1,
    })
    const data = found.slice(0, filters.limit).map(wireEntry)
    const last = data.at(-1)
    return {
      data,
      next_cursor: found.length > filters.limit && last ? String(last.seq) : null,
      head: { seq: head.size - 1, hash: head.hash },
    }
  }

  async entry(orgId: string, seq: number): Promise<Entry> {
    return wireEntry(await this.#stored(orgId, seq))
  }

  /** The tlog-proof that entry `seq` is in the tree of a signed size: `size`, or the newest. */
  async proof(orgId: string, seq: number, size?: number): Promise<string> {
    const head = await this.head(orgId)
    await this.#stored(orgId, seq)
    const checkpoint = await this.#checkpointFor(head, seq, size)
    const proof = await inclusionProof(this.#tiles(orgId), seq, sizeOf(checkpoint, head))
    return formatTlogProof({ index: seq, proof, checkpoint })
  }

  async consistency(orgId: string, from: number, to: number) {
    const head = await this.head(orgId)
    if (from > to) throw invalid('from', 'must not be above to')
    if (to > head.size) throw fail('size_not_signed', `The ledger has ${head.size} entries`)
    const tiles = this.#tiles(orgId)
    const proof = await consistencyProof(tiles, from, to)
    const [fromRoot, toRoot] = await Promise.all([treeRoot(tiles, from), treeRoot(tiles, to)])
    return {
      from,
      to,
      from_root: fromRoot,
      to_root: toRoot,
      proof: proof.map((hash) => Buffer.from(hash, 'hex').toString('base64')),
    }
  }

  /** The export as text, a page at a time; its end is the checkpoint of the moment it began. */
  async *export(orgId: string, afterSeq?: number): AsyncGenerator<string> {
    const head = await this.head(orgId)
    let next = afterSeq === undefined ? 0 : afterSeq + 1
    const genesis = await this.entry(orgId, 0)
    yield formatHeaderLine({
      org_id: orgId,
      ledger_id: String(genesis.data?.['ledger_id']),
      origin: head.origin,
      vkey: head.vkey,
      from_seq: next,
    })
    while (next < head.size) {
      const entries = await readEntries(
        this.#db,
        orgId,
        next,
        Math.min(EXPORT_PAGE, head.size - next),
      )
      if (entries.length === 0) break
      yield entries.map(formatEntryLine).join('')
      next = (entries.at(-1)?.seq ?? next) + 1
    }
    yield formatCheckpointLine(head.note)
  }

  #tiles(orgId: string): ReadTile {
    return (level, index, width) => readTile(this.#db, orgId, level, index, width)
  }

  async #stored(orgId: string, seq: number): Promise<StoredEntry> {
    const [entry] = await readEntries(this.#db, orgId, seq, 1)
    if (entry?.seq !== seq) throw noEntry(seq)
    return entry
  }

  /** Proofs end in a signature, so they exist for sizes whose checkpoint is kept, and the newest. */
  async #checkpointFor(head: LedgerHeadRow, seq: number, size?: number): Promise<string> {
    if (size === undefined || size === head.size) return head.note
    if (size <= seq) throw invalid('size', `must be above the sequence number ${seq}`)
    const note = await findCheckpoint(this.#db, head.org_id, size)
    if (note === undefined) {
      throw fail(
        'size_not_signed',
        `No checkpoint of size ${size} is kept; leave size out for the newest`,
      )
    }
    return note
  }

  async #range(orgId: string, size: number, filters: LedgerFilters) {
    const { after_seq, before_seq, order, cursor } = filters
    let from = after_seq === undefined ? 0 : after_seq + 1
    let to = Math.min(size, before_seq ?? size)
    if (filters.from !== undefined)
      from = Math.max(from, await seqAtTime(this.#db, orgId, size, normal(filters.from)))
    if (filters.to !== undefined)
      to = Math.min(to, await seqAtTime(this.#db, orgId, size, normal(filters.to)))
    if (cursor !== undefined) {
      if (!/^\d{1,16}$/.test(cursor))
        throw invalid('cursor', 'must be the next_cursor of an earlier answer')
      if (order === 'asc') from = Math.max(from, Number(cursor) + 1)
      else to = Math.min(to, Number(cursor))
    }
    return { from, to }
  }
}

/** The refusal for an entry that is not there, or not for the caller. */
export const noEntry = (seq: number): Failure =>
  fail('ledger_entry_not_found', `The ledger has no entry ${seq}`)

/** A time as entries carry it, so that both compare as text. */
const normal = (time: string): string => new Date(time).toISOString()

const sizeOf = (note: string, head: LedgerHeadRow): number =>
  openCheckpoint(note, parseVerifierKey(head.vkey), head.origin).size
