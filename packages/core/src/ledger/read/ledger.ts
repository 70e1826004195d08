import type { Entry, LedgerFilters, LedgerKey } from '@remit/contract'
import type { Database } from '../../db/open.ts'
import type { CoreTables, LedgerHeadRow } from '../../db/schema.ts'
import { fail, invalid } from '../../base/errors.ts'
import { timeOfId } from '../../base/ids.ts'
import { invalidCursor } from '../../base/page.ts'
import { openCheckpoint } from '../format/checkpoint.ts'
import { cutFrontier, findCut, namedKeys, recordedOrigin } from '../store/cut.ts'
import type { StoredEntry } from '../format/entry.ts'
import { openExport } from './export-entries.ts'
import type { ExportPart } from './export-entries.ts'
import { missingHead } from '../write/head-guard.ts'
import { findFirst, looksIntoPayloads, planPage, readPiece, seqAtTime } from '../store/list.ts'
import type { PagePlan } from '../store/list.ts'
import { parseVerifierKey } from '../format/note.ts'
import type { SeqRange } from '../store/read-slices.ts'
import { consistencyProof, inclusionProof, treeRoot } from '../format/proof.ts'
import { findCheckpoint, findHead, findLastEntry, readEntries, tilesOf } from '../store/store.ts'
import { formatTlogProof } from '../format/tlog-proof.ts'
import { noEntry, pruned } from './refusals.ts'
import { signingKeys } from './signing-keys.ts'
import { LARGE_READS, LINKS, PLANS } from './turn-limits.ts'
import { wireEntry } from './wire.ts'
import { Share } from '../../threads/share.ts'
import { Turns } from '../../threads/turns.ts'

const NO_ENTRIES: PagePlan = { pieces: [], rest: null, isSmall: true }

/** Maximum milliseconds between the creation of an id and its entry. */
const NEAR_MS = 60_000

/** A recorded decision, by its id. */
export interface FoundDecision {
  readonly agentId: string
  readonly isAllow: boolean
}

/** Read access to the ledgers, always for one organization. */
export class Ledger {
  readonly #db: Database<CoreTables>
  readonly #reads = new Turns(LARGE_READS)
  readonly #plans = new Turns(PLANS)
  readonly #links = new Turns(LINKS)
  readonly #share: Share

  /** `share` limits long reads. */
  constructor(db: Database<CoreTables>, share = new Share()) {
    this.#db = db
    this.#share = share
  }

  /** Returns the end of the chain as of the last commit. */
  async head(orgId: string): Promise<LedgerHeadRow> {
    const head = await findHead(this.#db, orgId)
    if (!head) throw missingHead()
    return head
  }

  /**
   * Returns the origin in the checkpoints of the ledger; null without a ledger. The entries take
   * precedence over the copy in the head.
   */
  async origin(orgId: string): Promise<string | null> {
    const recorded = await recordedOrigin(this.#db, orgId)
    return recorded ?? (await findHead(this.#db, orgId))?.origin ?? null
  }

  /** Returns the verifier keys that the ledger itself names. They prove nothing. */
  namedKeys(orgId: string): Promise<string[]> {
    return namedKeys(this.#db, orgId)
  }

  /**
   * Returns a page of entries, of at most about a million bytes. Large pages take turns within the
   * organization; throws `jobs_busy` if too many wait.
   */
  async list(orgId: string, filters: LedgerFilters) {
    this.#reads.admit(orgId)
    // One more than requested, to detect further entries.
    const query = { ...filters, limit: filters.limit + 1 }
    // SQLite has one queue for all queries, so few of one organization may be in it.
    const { head, range, small } = await this.#plans.run(orgId, () => this.#plan(orgId, query))
    const { entries, rest } = small?.isSmall
      ? await this.#page(orgId, query, small)
      : await this.#reads.run(orgId, () => this.#largePage(orgId, range, query))
    const data = entries.slice(0, filters.limit)
    const next = entries.length > filters.limit ? (data.at(-1)?.seq ?? null) : rest
    return {
      data,
      next_cursor: next === null ? null : String(next),
      head: { seq: head.size - 1, hash: head.hash },
    }
  }

  async #plan(orgId: string, query: LedgerFilters) {
    this.#reads.admit(orgId)
    const head = await this.#end(orgId)
    const range = await this.#range(orgId, head.size, query)
    // Payloads are long, so searching them in one window is slow too.
    const small = looksIntoPayloads(query)
      ? null
      : await planPage(this.#db, orgId, range, query, { once: true })
    return { head, range, small }
  }

  /** Returns an entry with the text that its commitment covers. */
  async entry(orgId: string, seq: number): Promise<Entry & { payload: string | null }> {
    const stored = await this.#stored(orgId, seq)
    return { ...wireEntry(stored), payload: stored.payload }
  }

  /** Returns the keys that have signed the ledger, as it names them. */
  signingKeys(orgId: string): Promise<LedgerKey[]> {
    return signingKeys(this.#db, orgId)
  }

  /**
   * Returns a recorded decision; null if it does not exist. Searches take turns within the
   * organization; throws `jobs_busy` if too many wait.
   */
  async decisionOf(orgId: string, id: string): Promise<FoundDecision | null> {
    const made = timeOfId(id)
    return made === null ? null : this.#links.run(orgId, () => this.#decisionAt(orgId, id, made))
  }

  async #decisionAt(orgId: string, id: string, made: number): Promise<FoundDecision | null> {
    const begin = (await findCut(this.#db, orgId))?.size ?? 0
    const { size } = await this.head(orgId)
    const at = (time: number) =>
      seqAtTime(this.#db, orgId, { from: begin, to: size }, new Date(time).toISOString())
    const [before, from, to] = [
      await at(Math.max(0, made - NEAR_MS)),
      await at(made),
      await at(made + NEAR_MS),
    ]
    // Its usual position, unless the clock was set back between its creation and its entry.
    for (const range of [
      { from, to },
      { from: before, to: from },
    ]) {
      const query = { decision_id: id, kind: 'authorization.decided' }
      const entry = await findFirst(this.#db, orgId, range, query)
      const { agent_id: agentId, decision } = entry ? wireEntry(entry) : {}
      if (agentId != null) return { agentId, isAllow: decision === 'allow' }
    }
    return null
  }

  /**
   * Returns the tlog-proof that entry `seq` is in the tree of a signed size: `size`, or the newest.
   */
  async proof(orgId: string, seq: number, size?: number): Promise<string> {
    const head = await this.head(orgId)
    await this.#stored(orgId, seq)
    const checkpoint = await this.#checkpointFor(head, seq, size)
    const proof = await this.#read(orgId, async () => {
      const { tiles, cut } = await this.#tree(orgId)
      return inclusionProof(tiles, seq, sizeOf(checkpoint, head), cut)
    })
    return formatTlogProof({ index: seq, proof, checkpoint })
  }

  async consistency(orgId: string, from: number, to: number) {
    const head = await this.head(orgId)
    if (from > to) throw invalid('from', 'must not be greater than to')
    if (to > head.size) throw fail('size_not_signed', `The ledger has ${head.size} entries`)
    return this.#read(orgId, async () => {
      const { tiles, cut } = await this.#tree(orgId)
      for (const size of [from, to]) {
        if (size > 0 && size < cut.size) throw pruned(cut.size, `The tree of size ${size}`)
      }
      const proof = await consistencyProof(tiles, from, to, cut)
      return {
        from,
        to,
        from_root: await treeRoot(tiles, from, cut),
        to_root: await treeRoot(tiles, to, cut),
        proof: proof.map((hash) => Buffer.from(hash, 'hex').toString('base64')),
      }
    })
  }

  /** Returns the export as text, page by page; it ends with the checkpoint at its start. */
  export(orgId: string, part: ExportPart = {}): Promise<AsyncGenerator<string>> {
    return this.#read(orgId, () =>
      openExport(this.#db, orgId, part, (read) => this.#share.run(orgId, read)),
    )
  }

  async #largePage(orgId: string, range: SeqRange, query: LedgerFilters) {
    const plan = await planPage(this.#db, orgId, range, query)
    return this.#page(orgId, query, plan ?? NO_ENTRIES)
  }

  async #page(orgId: string, query: LedgerFilters, { pieces, rest }: PagePlan) {
    const entries: Entry[] = []
    const read = async (piece: SeqRange) =>
      (await readPiece(this.#db, orgId, piece, query)).map(wireEntry)
    for (const piece of pieces) {
      const isAlone = pieces.length === 1
      const some = await (isAlone ? read(piece) : this.#share.run(orgId, () => read(piece)))
      entries.push(...some)
    }
    return { entries, rest }
  }

  /** Returns the end of the entries; works without a head. */
  async #end(orgId: string): Promise<Pick<LedgerHeadRow, 'size' | 'hash'>> {
    const head = await findHead(this.#db, orgId)
    if (head) return head
    const last = await findLastEntry(this.#db, orgId)
    if (!last) throw missingHead()
    return { size: last.seq + 1, hash: last.hash }
  }

  /** Runs several reads, and repeats them if a pruning removed rows in between. */
  async #read<T>(orgId: string, read: () => Promise<T>): Promise<T> {
    const before = await findCut(this.#db, orgId)
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      if ((await findCut(this.#db, orgId))?.size === before?.size) throw error
      return read()
    }
  }

  async #tree(orgId: string) {
    return {
      tiles: tilesOf(this.#db, orgId),
      cut: cutFrontier(await findCut(this.#db, orgId)),
    }
  }

  async #stored(orgId: string, seq: number): Promise<StoredEntry> {
    const [entry] = await readEntries(this.#db, orgId, seq, 1)
    const cut = await findCut(this.#db, orgId)
    if (cut && seq < cut.size) throw pruned(cut.size, `The entry ${seq}`)
    if (entry?.seq !== seq) throw noEntry(seq)
    return entry
  }

  /**
   * Proofs end with a signature, so they exist for sizes with a stored checkpoint, and the newest.
   */
  async #checkpointFor(head: LedgerHeadRow, seq: number, size?: number): Promise<string> {
    if (size === undefined || size === head.size) return head.note
    if (size <= seq) throw invalid('size', `must be greater than the sequence number ${seq}`)
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
    const begin = (await findCut(this.#db, orgId))?.size ?? 0
    let from = Math.max(begin, after_seq === undefined ? 0 : after_seq + 1)
    let to = Math.min(size, before_seq ?? size)
    if (filters.from !== undefined)
      from = Math.max(
        from,
        await seqAtTime(this.#db, orgId, { from, to: size }, normal(filters.from)),
      )
    // Ids contain their time, and no entry names a decision before its creation.
    const made = filters.decision_id === undefined ? undefined : timeOfId(filters.decision_id)
    if (made === null) return { from: begin, to: begin }
    if (made !== undefined)
      from = Math.max(
        from,
        await seqAtTime(
          this.#db,
          orgId,
          { from: begin, to: size },
          new Date(Math.max(0, made - NEAR_MS)).toISOString(),
        ),
      )
    if (filters.to !== undefined)
      to = Math.min(
        to,
        await seqAtTime(this.#db, orgId, { from: begin, to: size }, normal(filters.to)),
      )
    if (cursor !== undefined) {
      if (!/^\d{1,16}$/.test(cursor)) throw invalidCursor()
      if (order === 'asc') from = Math.max(from, Number(cursor) + 1)
      else to = Math.min(to, Number(cursor))
    }
    return { from, to }
  }
}

/** Normalizes a time to the format of entries, so that texts can be compared. */
const normal = (time: string): string => new Date(time).toISOString()

const sizeOf = (note: string, head: LedgerHeadRow): number =>
  openCheckpoint(note, parseVerifierKey(head.vkey), head.origin).size
