import type { Entry, LedgerFilters, LedgerKey } from '@remit/contract'
import type { Database } from '../../db/open.ts'
import type { CoreTables, LedgerHeadRow } from '../../db/schema.ts'
import { fail, invalid } from '../../base/errors.ts'
import type { Failure } from '../../base/errors.ts'
import { timeOfId } from '../../base/ids.ts'
import { sizeOfNote } from '../format/note.ts'
import { cutFrontier, findCut, namedKeys, recordedOrigin } from '../store/cut.ts'
import type { StoredEntry, EntryPayload } from '../format/entry.ts'
import { openExport } from './export-entries.ts'
import type { ExportPart } from './export-entries.ts'
import { forgedHead, missingHead } from '../write/head-guard.ts'
import { findFirst, seqAtTime, looksIntoPayloads, planPage, readPiece } from '../store/list.ts'
import type { Pace, PagePlan } from '../store/list.ts'
import { consistencyProof, inclusionProof, treeRoot } from '../format/proof.ts'
import { findCheckpoint, findHead, readEntries, tilesOf, findLastEntry } from '../store/store.ts'
import { formatTlogProof } from '../format/tlog-proof.ts'
import { signingKeys } from './signing-keys.ts'
import { HeavyWorkQueue } from '../../threads/heavy-work-queue.ts'
import { Turns } from '../../threads/turns.ts'
import { invalidCursor } from '../../base/page.ts'
import type { SeqRange } from '../store/store.ts'

/** A recorded decision, by its id. */
export interface FoundDecision {
  readonly agentId: string
  readonly isAllow: boolean
}

/** Read access to the ledgers, always for one organization. */
export class Ledger {
  readonly #db: Database<CoreTables>
  readonly #pages: EntryPages
  readonly #links = new Turns(LINKS)
  readonly #heavyWork: HeavyWorkQueue

  /** `share` limits long reads. */
  constructor(db: Database<CoreTables>, heavyWork = new HeavyWorkQueue()) {
    this.#db = db
    this.#heavyWork = heavyWork
    this.#pages = new EntryPages(db, heavyWork)
  }

  /** Returns the end of the chain as of the last commit. */
  async head(orgId: string): Promise<LedgerHeadRow> {
    const head = await findHead(this.#db, orgId)
    if (!head) throw missingHead()
    return head
  }

  /** Returns the end of the entries, also without a head. */
  end(orgId: string): Promise<Pick<LedgerHeadRow, 'size' | 'hash'>> {
    return this.#pages.end(orgId)
  }

  /** Returns the recorded origin, or else the copy in the head; null without a ledger. */
  async origin(orgId: string): Promise<string | null> {
    const recorded = await this.recordedOrigin(orgId)
    return recorded ?? (await findHead(this.#db, orgId))?.origin ?? null
  }

  /** Returns the origin that an unchanged entry records; null if there is no such entry. */
  recordedOrigin(orgId: string): Promise<string | null> {
    return recordedOrigin(this.#db, orgId)
  }

  /** Returns the verifier keys that the ledger itself names. They prove nothing. */
  namedKeys(orgId: string): Promise<string[]> {
    return namedKeys(this.#db, orgId)
  }

  /**
   * Returns a page of entries, of at most about a million bytes. Large pages take turns within the
   * organization; throws `jobs_busy` if too many wait.
   */
  list(orgId: string, filters: LedgerFilters): Promise<EntryPage> {
    return this.#pages.list(orgId, filters)
  }

  /** Returns a page for an event stream, when it is the turn of that stream; never `jobs_busy`. */
  follow(orgId: string, filters: LedgerFilters, over?: AbortSignal): Promise<EntryPage> {
    return this.#pages.follow(orgId, filters, over)
  }

  /** Runs another short read for an event stream when it is its turn. */
  paced<T>(orgId: string, read: () => Promise<T>, over?: AbortSignal): Promise<T> {
    return this.#pages.paced(orgId, read, over)
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
      const entry = await findFirst(this.#db, orgId, range, query, (search) =>
        this.#heavyWork.run(orgId, search),
      )
      const { agent_id: agentId, decision } = entry ? wireEntry(entry) : {}
      if (agentId != null) return { agentId, isAllow: decision === 'allow' }
    }
    return null
  }

  /**
   * Returns the tlog-proof that entry `seq` is in the tree of a signed size: `size`, or the newest.
   */
  async proof(orgId: string, seq: number, size?: number): Promise<string> {
    await this.#stored(orgId, seq)
    const checkpoint = await this.#checkpointFor(orgId, seq, size)
    const proof = await this.#read(orgId, async () => {
      const { tiles, cut } = await this.#tree(orgId)
      return inclusionProof(tiles, seq, checkpoint.size, cut)
    })
    return formatTlogProof({ index: seq, proof, checkpoint: checkpoint.note })
  }

  async consistency(orgId: string, from: number, to: number) {
    const end = await this.end(orgId)
    if (from > to) throw invalid('from', 'must not be greater than to')
    if (to > end.size) throw fail('size_not_signed', `The ledger has ${end.size} entries`)
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
      openExport(this.#db, orgId, part, (read) => this.#heavyWork.run(orgId, read)),
    )
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
   * Returns the checkpoint of `size`, or the newest one. Proofs end with a signature, so they exist for
   * sizes with a stored checkpoint, and the newest.
   */
  async #checkpointFor(
    orgId: string,
    seq: number,
    size?: number,
  ): Promise<{ readonly size: number; readonly note: string }> {
    if (size !== undefined && size <= seq)
      throw invalid('size', `must be greater than the sequence number ${seq}`)
    const head = await findHead(this.#db, orgId)
    const isNewest = head && (size === undefined || size === head.size)
    const { note } = (isNewest ? head : await findCheckpoint(this.#db, orgId, size)) ?? {}
    const signed = sizeOfNote(note)
    if (note !== undefined && signed !== null && signed > seq) return { size: signed, note }
    if (isNewest) throw forgedHead()
    if (size === undefined) throw missingHead()
    throw fail(
      'size_not_signed',
      `No checkpoint of size ${size} is kept; leave size out for the newest`,
    )
  }
}

/** Maximum milliseconds between the creation of an id and its entry. */
const NEAR_MS = 60_000

const NO_ENTRIES: PagePlan = { pieces: [], rest: null, isSmall: true }

/** A page of entries, and the end of the ledger. */
interface EntryPage {
  readonly data: Entry[]
  readonly next_cursor: string | null
  readonly head: { readonly seq: number; readonly hash: string }
}

/** Finds pages of entries, of at most about a million bytes. */
class EntryPages {
  readonly #db: Database<CoreTables>
  readonly #heavyWork: HeavyWorkQueue
  readonly #reads = new Turns(LARGE_READS)
  readonly #plans = new Turns(PLANS)
  readonly #streams = new Turns(STREAMS)

  /** `share` limits long reads. */
  constructor(db: Database<CoreTables>, heavyWork: HeavyWorkQueue) {
    this.#db = db
    this.#heavyWork = heavyWork
  }

  /** For one request. Large pages take turns; throws `jobs_busy` if too many wait. */
  async list(orgId: string, filters: LedgerFilters): Promise<EntryPage> {
    this.#reads.admit(orgId)
    const query = withOneMore(filters)
    // SQLite has one queue for all queries, so few of one organization may be in it.
    const plan = await this.#plans.run(orgId, () => {
      this.#reads.admit(orgId)
      return this.#plan(orgId, query)
    })
    const { range, small } = plan
    const found = small?.isSmall
      ? await this.#page(orgId, query, small)
      : await this.#reads.run(orgId, () => this.#largePage(orgId, range, query))
    return toPage(filters, found, plan.head)
  }

  /**
   * For an event stream, which reads page after page: one stream of the organization at a time, and
   * a pause after each page. Rejects if `over` aborts before its turn.
   */
  follow(orgId: string, filters: LedgerFilters, over?: AbortSignal): Promise<EntryPage> {
    const read = async () => {
      const query = withOneMore(filters)
      const { head, range, small } = await this.#plan(orgId, query)
      const found = small?.isSmall
        ? await this.#heavyWork.run(orgId, () => this.#page(orgId, query, small))
        : await this.#largePage(orgId, range, query)
      return toPage(filters, found, head)
    }
    return this.#streams.run(orgId, read, over)
  }

  /** Like `follow` for a short read of another kind. */
  paced<T>(orgId: string, read: () => Promise<T>, over?: AbortSignal): Promise<T> {
    return this.#streams.run(orgId, () => this.#heavyWork.run(orgId, read), over)
  }

  async #plan(orgId: string, query: LedgerFilters) {
    const head = await this.end(orgId)
    const range = await this.#range(orgId, head.size, query)
    // Payloads are long, so searching them in one window is slow too.
    const small = looksIntoPayloads(query)
      ? null
      : await planPage(this.#db, orgId, range, query, { once: true })
    return { head, range, small }
  }

  async #largePage(orgId: string, range: SeqRange, query: LedgerFilters) {
    const pace: Pace = (search) => this.#heavyWork.run(orgId, search)
    const plan = await planPage(this.#db, orgId, range, query, { pace })
    return this.#page(orgId, query, plan ?? NO_ENTRIES)
  }

  async #page(orgId: string, query: LedgerFilters, { pieces, rest }: PagePlan) {
    const entries: Entry[] = []
    const read = async (piece: SeqRange) =>
      (await readPiece(this.#db, orgId, piece, query)).map(wireEntry)
    for (const piece of pieces) {
      const isAlone = pieces.length === 1
      const some = await (isAlone ? read(piece) : this.#heavyWork.run(orgId, () => read(piece)))
      entries.push(...some)
    }
    return { entries, rest }
  }

  /** Returns the end of the entries; works without a head. */
  async end(orgId: string): Promise<Pick<LedgerHeadRow, 'size' | 'hash'>> {
    const head = await findHead(this.#db, orgId)
    if (head) return head
    const last = await findLastEntry(this.#db, orgId)
    if (!last) throw missingHead()
    return { size: last.seq + 1, hash: last.hash }
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

/** One more than requested, to detect further entries. */
const withOneMore = (filters: LedgerFilters): LedgerFilters => ({
  ...filters,
  limit: filters.limit + 1,
})

function toPage(
  { limit }: LedgerFilters,
  { entries, rest }: { readonly entries: readonly Entry[]; readonly rest: number | null },
  head: Pick<LedgerHeadRow, 'size' | 'hash'>,
): EntryPage {
  const data = entries.slice(0, limit)
  const next = entries.length > limit ? (data.at(-1)?.seq ?? null) : rest
  return {
    data,
    next_cursor: next === null ? null : String(next),
    head: { seq: head.size - 1, hash: head.hash },
  }
}

/** Normalizes a time to the format of entries, so that texts can be compared. */
const normal = (time: string): string => new Date(time).toISOString()

/** Concurrent pages that are larger than one slice. */
const LARGE_READS = { size: 4, each: 2, waiting: { each: 32, total: 256 } }
/** Concurrent plans of pages. */
const PLANS = { size: Infinity, each: 2, waiting: { each: 64, total: 512 } }
/** Concurrent searches for decisions: most take a millisecond, some much longer. */
const LINKS = { size: 4, each: 2, waiting: { each: 64, total: 512 } }
/** Concurrent reads of the event streams of an organization, which wait as long as it takes. */
const STREAMS = { size: Infinity, each: 1 }

/** The error for a part of a ledger that begins at `cut`. */
const pruned = (cut: number, what: string): Failure =>
  fail('ledger_pruned', `${what} was pruned; the ledger starts at ${cut}`)

/** The error for an entry that does not exist or is not visible to the caller. */
export const noEntry = (seq: number): Failure =>
  fail('ledger_entry_not_found', `The ledger has no entry ${seq}`)

/** Converts an entry to its API form: the hashed header and the committed payload. */
export function wireEntry(stored: StoredEntry): Entry {
  const { payload } = stored
  return withContent(stored, payload === null ? null : (JSON.parse(payload) as EntryPayload))
}

/** The same for an entry that was just written: `content` is its payload. */
export function withContent(stored: StoredEntry, content: EntryPayload | null): Entry {
  const { seq, kind, recorded_at, commitment, salt, prev_hash, hash } = stored
  return {
    seq,
    kind,
    recorded_at,
    actor: content?.actor ?? null,
    agent_id: content?.agent_id ?? null,
    action: content?.action ?? null,
    resource: content?.resource ?? null,
    decision: content?.decision ?? null,
    reason: content?.reason ?? null,
    data: content ? { ...content.data } : null,
    commitment,
    salt,
    prev_hash,
    hash,
  }
}
