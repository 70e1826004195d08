import { isoTime } from '../../base/clock.ts'
import type { Clock } from '../../base/clock.ts'
import { BatchTime } from '../../computing/computing.ts'
import { isDatabaseError } from '../../db/failure.ts'
import type { Database } from '../../db/open.ts'
import { writeLastRows, writeRows } from '../../db/write-rows.ts'
import { notifyOthers } from '../../db/signals.ts'
import type { CoreTables, LedgerHeadRow } from '../../db/schema.ts'
import { Failure, fail } from '../../base/errors.ts'
import { callerId, isSameRight } from '../../caller/caller.ts'
import type { Caller } from '../../caller/caller.ts'
import type { OrganizationVersions } from '../../limits/at-version.ts'
import { countOf, decidedBefore } from '../../limits/month.ts'
import { findAnswer, keepAnswer } from '../../idempotency/store.ts'
import { AlreadyAnswered } from '../../idempotency/claim.ts'
import { signCheckpoint } from '../format/note.ts'
import type { EntryDraft } from '../format/draft.ts'
import { newSalt } from '../format/entry.ts'
import { linkEntries } from '../format/link.ts'
import type { Linked } from '../format/link.ts'
import { forgedHead, withoutHead } from './head-guard.ts'
import type { HeadGuard } from './head-guard.ts'
import type { NoteSigner } from '../format/note.ts'
import { linkedRows, lockHead } from '../store/store.ts'
import type { WriteMetrics } from './write-metrics.ts'
import { LATER } from './work.ts'
import type { EntryObserver, Lane, LaneBatch, Outcome, Work, LedgerScope } from './work.ts'

/** The lanes of the works of a transaction, in their order. */
export type OpenLanes = ReadonlyMap<Lane<unknown, unknown>, LaneBatch<unknown, unknown>>

export interface TransactionDeps {
  readonly db: Database<CoreTables>
  readonly clock: Clock
  readonly heads: HeadGuard
  readonly observers: readonly EntryObserver[]
  readonly versions: OrganizationVersions
  readonly metrics?: WriteMetrics
  readonly authenticator: {
    /**
     * Returns the callers at this version and time by `callerId`; null for a key or session that is no
     * longer valid.
     */
    recheck(
      tx: Database<CoreTables>,
      callers: readonly Caller[],
      configVersion: number,
      now: number,
    ): Promise<ReadonlyMap<string, Caller | null>>
  }
}

/**
 * The result of a commit: a value, an error or `LATER` for each request, and the mark to verify it.
 */
export interface Committed {
  readonly results: readonly unknown[]
  /** Sequence number and hash of the first entry, or null if nothing was written. */
  readonly mark: { readonly seq: number; readonly hash: string } | null
  /** Entries in the ledger, and the hash of the last one. */
  readonly size: number
  readonly hash: string
  /** Topics to notify in this process after the commit. */
  readonly topics: ReadonlySet<string>
  /** Milliseconds of computing time of its decisions. */
  readonly computedMs: number
}

/**
 * Runs one group commit: all decisions, entries and responses of the requests, linked to the chain
 * and signed, in one transaction under the lock of the organization. `onDone` runs just before the
 * commit.
 */
export async function runTransaction(
  deps: TransactionDeps,
  orgId: string,
  works: readonly Work[],
  lanes: OpenLanes,
  onDone: (committed: Committed) => void,
): Promise<Committed> {
  const began = performance.now()
  const committed = await deps.db.transaction().execute(async (tx) => {
    const head = await lockHead(tx, orgId)
    deps.metrics?.lockSeconds((performance.now() - began) / 1000)
    if (!head) throw await withoutHead(tx, orgId)
    const signer = await deps.heads.signerFor(tx, head)
    // Only work that reports a forgery continues from it, unsigned.
    if (signer === null && !works.every(({ alone }) => alone?.evenIfForged)) throw forgedHead()
    // Time never decreases within a chain, regardless of the clock.
    const time = isoTime(deps.clock.now())
    const recordedAt = time > head.recorded_at ? time : head.recorded_at
    const topics = new Set<string>()
    const scope: LedgerScope = {
      orgId,
      tx,
      now: Date.parse(recordedAt),
      recordedAt,
      configVersion: head.config_version,
      decided: decidedBefore(head, recordedAt),
      organization: await deps.versions.at(tx, head),
      announce: (topic) => void topics.add(topic),
      time: new BatchTime(),
      writes: [],
    }
    const run = new LedgerTransaction(deps, scope, works)
    await run.admit()
    await run.work(lanes)
    const recorded = await record(run, head, signer, deps)
    const done = { ...recorded, topics, computedMs: scope.time.spentMs }
    if (topics.size > 0) await notifyOthers(tx, orgId, topics)
    onDone(done)
    return done
  })
  deps.heads.committed(orgId, committed)
  return committed
}

/** The requests of one transaction from admission to their outcomes. */
class LedgerTransaction {
  readonly outcomes: (Outcome<unknown> | Error | typeof LATER)[] = []
  readonly further: EntryDraft[] = []
  readonly works: readonly Work[]
  readonly scope: LedgerScope
  readonly #deps: TransactionDeps
  changed = false

  constructor(deps: TransactionDeps, scope: LedgerScope, works: readonly Work[]) {
    this.#deps = deps
    this.scope = scope
    this.works = works
  }

  /** Rejects callers whose key is no longer valid, and finds stored responses. */
  async admit(): Promise<void> {
    const { orgId, tx, now, configVersion, organization } = this.scope
    const { isSuspended } = organization
    const callers = this.works.flatMap(({ origin }) => origin.caller ?? [])
    const live = await this.#deps.authenticator.recheck(tx, callers, configVersion, now)
    for (const [i, work] of this.works.entries()) {
      const { origin } = work
      const caller = origin.caller && live.get(callerId(origin.caller.principal))
      work.caller = caller ?? null
      if (origin.caller && !isSameRight(origin.caller, caller)) {
        this.outcomes[i] = fail('unauthorized', 'The key changed while the request was waiting')
      } else if (isSuspended && origin.caller && !origin.whileSuspended) {
        this.outcomes[i] = fail('organization_suspended')
      } else if (origin.claim) {
        const kept = await findAnswer(tx, orgId, origin.claim, now).catch(asFailure)
        if (kept instanceof Failure) this.outcomes[i] = kept
        else if (kept && !(await work.lane?.hasEnded?.(kept, this.scope)))
          this.outcomes[i] = new AlreadyAnswered(kept)
      }
    }
  }

  /** Runs the lanes in turn, and then the work that is alone. */
  async work(lanes: OpenLanes): Promise<void> {
    for (const [lane, batch] of lanes) {
      const indices: number[] = []
      const works: Work[] = []
      for (const [i, work] of this.works.entries()) {
        if (work.lane !== lane || this.outcomes[i]) continue
        indices.push(i)
        works.push(work)
      }
      if (works.length === 0) continue
      // The next lane must see the writes of this one.
      await writeRows(this.scope.tx, this.scope.writes.splice(0))
      const result = await batch.run(works, this.scope)
      for (const [k, i] of indices.entries()) {
        this.outcomes[i] = result.outcomes[k] ?? new Error(`${lane.name} returned no outcome`)
      }
      this.further.push(...(result.further ?? []))
    }
    for (const [i, { alone, caller }] of this.works.entries()) {
      if (!alone || this.outcomes[i]) continue
      // An error here fails the whole transaction; the writer then runs each request alone.
      const outcome = await alone.run(this.scope, caller).catch(asFault)
      if (alone.moves && outcome.entries.length === 0)
        throw new WorkError(new Error('a configuration change must append an entry'))
      this.outcomes[i] = outcome
      this.changed ||= alone.moves
    }
  }
}

/** The work failed by itself, not because of the database or the ledger; `cause` is its error. */
export class WorkError extends Error {
  constructor(cause: unknown) {
    super('the work failed', { cause })
  }
}

const asFault = (error: unknown): never => {
  throw error instanceof Failure || isDatabaseError(error) ? error : new WorkError(error)
}

const asFailure = (error: unknown): Failure => {
  if (error instanceof Failure) return error
  throw error
}

async function record(
  run: LedgerTransaction,
  head: LedgerHeadRow,
  signer: NoteSigner | null,
  { heads, observers }: TransactionDeps,
): Promise<Pick<Committed, 'results' | 'mark' | 'size' | 'hash'>> {
  const drafts: EntryDraft[] = []
  for (const outcome of run.outcomes) if (!leavesNothing(outcome)) drafts.push(...outcome.entries)
  drafts.push(...run.further)
  const { recordedAt } = run.scope
  const linked = linkEntries(head, drafts, recordedAt, newSalt)
  let note: string | null = signer && head.note
  if (drafts.length > 0) {
    const { size, root, hash, frontier } = linked
    note = signer && signCheckpoint(signer, { origin: head.origin, size, root })
    const version = head.config_version + (run.changed ? 1 : 0)
    const counted = { ...head, ...countOf(run.scope, drafts) }
    run.scope.writes.push(...linkedRows(counted, linked, recordedAt, note, version))
    if (note !== null) heads.keep({ ...head, size, hash, frontier, note, recorded_at: recordedAt })
    for (const observer of observers) await observer.observe(linked.entries, run.scope)
  }
  const results = reply(run, linked, note)
  for (const [i, { origin }] of run.works.entries()) {
    if (origin.claim && !(results[i] instanceof Error) && results[i] !== LATER) {
      await keepAnswer(
        run.scope.tx,
        run.scope.orgId,
        origin.claim,
        origin.claim.encode(results[i]),
        run.scope.now,
      )
    }
  }
  await writeLastRows(run.scope.tx, run.scope.writes.splice(0))
  const first = linked.entries[0]?.row
  const mark = first ? { seq: first.seq, hash: first.hash } : null
  return { results, mark, size: linked.size, hash: linked.hash }
}

/** Returns true if a request writes nothing in this transaction. */
const leavesNothing = (
  outcome: Outcome<unknown> | Error | typeof LATER,
): outcome is Error | typeof LATER => outcome === LATER || outcome instanceof Error

function reply(run: LedgerTransaction, { entries }: Linked, note: string | null): unknown[] {
  let at = 0
  const replies: unknown[] = []
  for (const [i, outcome] of run.outcomes.entries()) {
    if (leavesNothing(outcome)) {
      replies.push(outcome)
      continue
    }
    const own = entries.slice(at, (at += outcome.entries.length))
    if (note !== null && run.works[i]?.origin.wantsNote)
      for (const { receipt } of own) receipt.checkpoint = note
    replies.push(outcome.reply(own))
  }
  return replies
}
