import type { Entry, LedgerFilters } from '@remit/contract'
import { timeOfId } from '../../base/ids.ts'
import { invalidCursor } from '../../base/page.ts'
import type { Database } from '../../db/open.ts'
import type { CoreTables, LedgerHeadRow } from '../../db/schema.ts'
import type { Share } from '../../threads/share.ts'
import { Turns } from '../../threads/turns.ts'
import { findCut } from '../store/cut.ts'
import { looksIntoPayloads, planPage, readPiece, seqAtTime } from '../store/list.ts'
import type { Pace, PagePlan } from '../store/list.ts'
import type { SeqRange } from '../store/read-slices.ts'
import { findHead, findLastEntry } from '../store/store.ts'
import { missingHead } from '../write/head-guard.ts'
import { LARGE_READS, PLANS, STREAMS } from './turn-limits.ts'
import { wireEntry } from './wire.ts'

/** Maximum milliseconds between the creation of an id and its entry. */
export const NEAR_MS = 60_000

const NO_ENTRIES: PagePlan = { pieces: [], rest: null, isSmall: true }

/** A page of entries, and the end of the ledger. */
export interface EntryPage {
  readonly data: Entry[]
  readonly next_cursor: string | null
  readonly head: { readonly seq: number; readonly hash: string }
}

/** Finds pages of entries, of at most about a million bytes. */
export class EntryPages {
  readonly #db: Database<CoreTables>
  readonly #share: Share
  readonly #reads = new Turns(LARGE_READS)
  readonly #plans = new Turns(PLANS)
  readonly #streams = new Turns(STREAMS)

  /** `share` limits long reads. */
  constructor(db: Database<CoreTables>, share: Share) {
    this.#db = db
    this.#share = share
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
        ? await this.#share.run(orgId, () => this.#page(orgId, query, small))
        : await this.#largePage(orgId, range, query)
      return toPage(filters, found, head)
    }
    return this.#streams.run(orgId, read, over)
  }

  /** Like `follow` for a short read of another kind. */
  paced<T>(orgId: string, read: () => Promise<T>, over?: AbortSignal): Promise<T> {
    return this.#streams.run(orgId, () => this.#share.run(orgId, read), over)
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
    const pace: Pace = (search) => this.#share.run(orgId, search)
    const plan = await planPage(this.#db, orgId, range, query, { pace })
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
