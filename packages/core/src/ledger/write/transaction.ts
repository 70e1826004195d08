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
import type { LinkedEntry } from '../format/link.ts'
import { forgedHead, withoutHead } from './head-guard.ts'
import type { HeadGuard } from './head-guard.ts'
import type { NoteSigner } from '../format/note.ts'
import { linkedRows, lockHead } from '../store/store.ts'
import type { WriteMetrics } from './write-metrics.ts'
import { LATER } from './work.ts'
import type {
  ChangeObserver,
  EntryObserver,
  Lane,
  LaneBatch,
  Outcome,
  Work,
  LedgerScope,
} from './work.ts'

/** The lanes of the works of a transaction, in their order. */
export type OpenLanes = ReadonlyMap<Lane<unknown, unknown>, LaneBatch<unknown, unknown>>

export interface TransactionDeps {
  readonly db: Database<CoreTables>
  readonly clock: Clock
  readonly heads: HeadGuard
  readonly observers: readonly EntryObserver[]
  readonly changeObservers: readonly ChangeObserver[]
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
      size: head.size,
      decided: decidedBefore(head, recordedAt),
      organization: await deps.versions.at(tx, head),
      announce: (topic) => void topics.add(topic),
      time: new BatchTime(),
      writes: [],
    }
    const ran = await runWorks(works, await admit(works, scope, deps), lanes, scope, deps)
    const recorded = await record(works, ran, head, signer, scope, deps)
    const done = { ...recorded, topics, computedMs: scope.time.spentMs }
    if (topics.size > 0) await notifyOthers(tx, orgId, topics)
    onDone(done)
    return done
  })
  deps.heads.committed(orgId, committed)
  return committed
}

type WorkOutcome = Outcome<unknown> | Error | typeof LATER

/** The outcomes of the requests of a transaction, and what it writes beyond them. */
interface WorksRun {
  readonly outcomes: readonly WorkOutcome[]
  readonly further: readonly EntryDraft[]
  /** The configuration changed. */
  readonly changed: boolean
}

/** Rejects callers whose key is no longer valid, and finds stored responses; returns these outcomes. */
async function admit(
  works: readonly Work[],
  scope: LedgerScope,
  { authenticator }: TransactionDeps,
): Promise<WorkOutcome[]> {
  const { orgId, tx, now, configVersion, organization } = scope
  const outcomes: WorkOutcome[] = []
  const callers: Caller[] = []
  for (const { origin } of works) if (origin.caller) callers.push(origin.caller)
  const live = await authenticator.recheck(tx, callers, configVersion, now)
  for (const [i, work] of works.entries()) {
    const { origin } = work
    const caller = origin.caller && live.get(callerId(origin.caller.principal))
    work.caller = caller ?? null
    if (origin.caller && !isSameRight(origin.caller, caller)) {
      outcomes[i] = fail('unauthorized', 'The key changed while the request was waiting')
    } else if (organization.isSuspended && origin.caller && !origin.whileSuspended) {
      outcomes[i] = fail('organization_suspended')
    } else if (origin.claim) {
      const kept = await findAnswer(tx, orgId, origin.claim, now).catch(asFailure)
      if (kept instanceof Failure) outcomes[i] = kept
      else if (kept && !(await work.lane?.hasEnded?.(kept, scope)))
        outcomes[i] = new AlreadyAnswered(kept)
    }
  }
  return outcomes
}

/** Runs the lanes in turn, and then the work that is alone; requests with an outcome are left out. */
async function runWorks(
  works: readonly Work[],
  outcomes: WorkOutcome[],
  lanes: OpenLanes,
  scope: LedgerScope,
  { changeObservers }: TransactionDeps,
): Promise<WorksRun> {
  const further: EntryDraft[] = []
  let changed = false
  for (const [lane, batch] of lanes) {
    const indices: number[] = []
    const own: Work[] = []
    for (const [i, work] of works.entries()) {
      if (work.lane !== lane || outcomes[i]) continue
      indices.push(i)
      own.push(work)
    }
    if (own.length === 0) continue
    // The next lane must see the writes of this one.
    await writeRows(scope.tx, scope.writes.splice(0))
    const result = await batch.run(own, scope)
    for (const [k, i] of indices.entries())
      outcomes[i] = result.outcomes[k] ?? new Error(`${lane.name} returned no outcome`)
    further.push(...(result.further ?? []))
  }
  for (const [i, { alone, caller }] of works.entries()) {
    if (!alone || outcomes[i]) continue
    // An error here fails the whole transaction; the writer then runs each request alone.
    const outcome = await alone.run(scope, caller).catch(asFault)
    outcomes[i] = outcome
    if (!alone.moves || outcome.changesNothing) continue
    if (outcome.entries.length === 0)
      throw new WorkError(new Error('a configuration change must append an entry'))
    changed = true
    for (const observe of changeObservers)
      further.push(...(await observe(outcome.entries, scope, caller).catch(asFault)))
  }
  return { outcomes, further, changed }
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
  works: readonly Work[],
  { outcomes, further, changed }: WorksRun,
  head: LedgerHeadRow,
  signer: NoteSigner | null,
  scope: LedgerScope,
  { heads, observers }: TransactionDeps,
): Promise<Pick<Committed, 'results' | 'mark' | 'size' | 'hash'>> {
  const { orgId, tx, now, recordedAt, writes } = scope
  const drafts: EntryDraft[] = []
  for (const outcome of outcomes) if (!leavesNothing(outcome)) drafts.push(...outcome.entries)
  drafts.push(...further)
  const linked = linkEntries(head, drafts, recordedAt, newSalt)
  let note: string | null = signer && head.note
  if (drafts.length > 0) {
    const { size, root, hash, frontier } = linked
    note = signer && signCheckpoint(signer, { origin: head.origin, size, root })
    const version = head.config_version + (changed ? 1 : 0)
    const counted = { ...head, ...countOf(scope, drafts) }
    writes.push(...linkedRows(counted, linked, recordedAt, note, version))
    if (note !== null) heads.keep({ ...head, size, hash, frontier, note, recorded_at: recordedAt })
    for (const observer of observers) await observer.observe(linked.entries, scope)
  }
  const results = reply(works, outcomes, linked.entries, note)
  for (const [i, { origin }] of works.entries()) {
    const result = results[i]
    const outcome = outcomes[i]
    if (!origin.claim || result instanceof Error || result === LATER) continue
    if (typeof outcome === 'object' && 'changesNothing' in outcome) continue
    await keepAnswer(tx, orgId, origin.claim, origin.claim.encode(result), now)
  }
  await writeLastRows(tx, writes.splice(0))
  const first = linked.entries[0]?.row
  const mark = first ? { seq: first.seq, hash: first.hash } : null
  return { results, mark, size: linked.size, hash: linked.hash }
}

/** Returns true if a request writes nothing in this transaction. */
const leavesNothing = (outcome: WorkOutcome): outcome is Error | typeof LATER =>
  outcome === LATER || outcome instanceof Error

function reply(
  works: readonly Work[],
  outcomes: readonly WorkOutcome[],
  entries: readonly LinkedEntry[],
  note: string | null,
): unknown[] {
  let at = 0
  const replies: unknown[] = []
  for (const [i, outcome] of outcomes.entries()) {
    if (leavesNothing(outcome)) {
      replies.push(outcome)
      continue
    }
    const own = entries.slice(at, (at += outcome.entries.length))
    if (note !== null && works[i]?.origin.wantsNote)
      for (const { receipt } of own) receipt.checkpoint = note
    replies.push(outcome.reply(own))
  }
  return replies
}
