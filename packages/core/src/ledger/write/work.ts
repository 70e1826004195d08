import type { Receipt } from '@remit/contract'
import type { Transaction } from 'kysely'
import type { BatchTime } from '../../computing/computing.ts'
import type { Caller } from '../../caller/caller.ts'
import type { CoreTables } from '../../db/schema.ts'
import { unavailable } from '../../db/failure.ts'
import { Failure } from '../../base/errors.ts'
import type { BulkInsert } from '../../db/write-rows.ts'
import { AlreadyAnswered } from '../../idempotency/claim.ts'
import type { IdempotencyClaim, StoredAnswer } from '../../idempotency/claim.ts'
import type { Span, TraceParent } from '../../telemetry/tracing.ts'
import type { OrganizationAtVersion } from '../../limits/at-version.ts'
import type { EntryDraft } from '../format/draft.ts'
import type { LinkedEntry } from '../format/link.ts'

/** The transaction of some work, with the ledger of the organization locked. */
export interface LedgerScope {
  readonly orgId: string
  readonly tx: Transaction<CoreTables>
  /**
   * Milliseconds; `recordedAt` is the same in the format of entries. Never before the last entry.
   */
  readonly now: number
  readonly recordedAt: string
  readonly configVersion: number
  /** Entries in the ledger before this transaction. */
  readonly size: number
  /** Decisions of the organization in this month, before this transaction. */
  readonly decided: number
  readonly organization: OrganizationAtVersion
  /**
   * Notifies subscribers of this topic after the commit. Only together with an entry: processes
   * that cannot listen poll for entries.
   */
  announce(topic: string): void
  /** Computing time that all requests of the transaction share. */
  readonly time: BatchTime
  /** Rows to write before the next lane runs, at the latest together with the entries. */
  readonly writes: BulkInsert[]
}

/**
 * Returns the error for a client whose work was not recorded: a refusal unchanged, anything else as
 * a 503 without effects. The writer has logged it.
 */
export const toClientError = (error: unknown): Failure | AlreadyAnswered =>
  error instanceof Failure || error instanceof AlreadyAnswered
    ? error
    : unavailable('ledger_unavailable')

/** Returns the first entry of some work, for its response. */
export function firstOf(recorded: readonly LinkedEntry[]): LinkedEntry {
  const [first] = recorded
  if (!first) throw new Error('the work appended no entry')
  return first
}

/** Entries to write, and the response as a function of their positions. */
export interface Outcome<Answer> {
  readonly entries: readonly EntryDraft[]
  readonly reply: (recorded: readonly LinkedEntry[]) => Answer
  /**
   * The outcome of a configuration change that waits and changes no configuration yet. Its answer is not kept: a repeat
   * may go on.
   */
  readonly changesNothing?: true
}

/** Who asks for work, and how its answer is kept and traced. */
export interface WorkOrigin<C extends Caller | null = Caller | null> {
  /** Null for the operator of the server (command line, boot). */
  readonly caller: C
  /** The claim of an `Idempotency-Key`, which the writer stores in the transaction of the work. */
  readonly claim: IdempotencyClaim | null
  /** The caller asks for the signed note of its commit (`Prefer: receipt`). */
  readonly wantsNote: boolean
  /** A suspended organization may do this. */
  readonly whileSuspended?: boolean
  /** The trace that the caller names (`traceparent`), for its entry. */
  readonly trace?: TraceParent | null
  /** The sampled operation of the request. */
  readonly span?: Span | null
}

/** A request in the queue of the writer, until it is answered. */
export interface Work<Job = unknown> {
  /** Null for work that is alone in its transaction. */
  readonly lane: Lane<Job, unknown> | null
  readonly job: Job
  readonly alone: WorkAlone | null
  readonly origin: WorkOrigin
  /** The caller of the origin, as the last transaction read it. */
  caller: Caller | null
  /** Its arrival (`performance.now()`). */
  readonly since: number
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Work that is alone in its transaction. */
export interface WorkAlone {
  readonly run: Change<unknown>
  /** It changes the configuration. */
  readonly moves: boolean
  readonly evenIfForged: boolean
}

/** Thrown by a lane to roll the transaction back and retry the batch. */
export class RetryBatch extends Error {}

/** Work of one kind; many requests share a transaction. */
export interface Lane<Job, Answer> {
  readonly name: string
  /** Returns whether a stored answer counts no longer: its request is then carried out again. */
  hasEnded?(answer: StoredAnswer, scope: LedgerScope): Promise<boolean>
  /** Starts the work on requests that share a transaction; the result serves all attempts of it. */
  open(orgId: string): LaneBatch<Job, Answer>
}

/** Requests of a lane that share a transaction. */
export interface LaneBatch<Job, Answer> {
  /** Gathers external facts before the transaction; must not throw. */
  before?(works: readonly Work<Job>[]): Promise<void>
  run(works: readonly Work<Job>[], scope: LedgerScope): Promise<LaneResult<Answer>>
}

/** Returns a lane that remembers nothing between attempts. */
export function lane<Job, Answer>(
  name: string,
  run: LaneBatch<Job, Answer>['run'],
): Lane<Job, Answer> {
  const batch = { run }
  return { name, open: () => batch }
}

/** The outcome of a request that the transaction had no time for: it goes into the next one. */
export const LATER: unique symbol = Symbol('later')

export interface LaneResult<Answer> {
  /** One per request, in order. */
  readonly outcomes: readonly (Outcome<Answer> | Failure | typeof LATER)[]
  /** Entries in addition to those of single requests. */
  readonly further?: readonly EntryDraft[]
}

/**
 * Work that is alone in its transaction; a configuration change also increments `config_version`.
 */
export type Change<Answer> = (scope: LedgerScope, caller: Caller | null) => Promise<Outcome<Answer>>

/** The outcome of work that has no response. */
export const recording = (...entries: EntryDraft[]): Promise<Outcome<undefined>> =>
  Promise.resolve({ entries, reply: () => undefined })

type Receipted<Value> = Value & { readonly ledger: Receipt }

/**
 * The outcome of work whose response is `value` with the receipt of its first entry, or what `answer`
 * makes of that.
 */
export const receipted = <Value, Answer = Receipted<Value>>(
  entries: readonly EntryDraft[],
  value: Value,
  answer: (body: Receipted<Value>) => Answer = (body) => body as Answer,
): Outcome<Answer> => ({
  entries,
  reply: (recorded) => answer({ ...value, ledger: firstOf(recorded).receipt }),
})

/** Returns the same change with another response. */
export const answering =
  <From, To>(change: Change<From>, answer: (value: From) => To): Change<To> =>
  async (scope, caller) => {
    const { entries, reply } = await change(scope, caller)
    return { entries, reply: (recorded) => answer(reply(recorded)) }
  }

/**
 * Called with the entries of each configuration change before they are linked. Returns further entries, or refuses the change with a `Failure`.
 */
export type ChangeObserver = (
  entries: readonly EntryDraft[],
  scope: LedgerScope,
  caller: Caller | null,
) => Promise<readonly EntryDraft[]>

/**
 * Called with all entries of a transaction before they are written, so that rows about them (an
 * outbox) commit with them: push these to `scope.writes`. An exception fails the transaction.
 */
export interface EntryObserver {
  observe(entries: readonly LinkedEntry[], scope: LedgerScope): Promise<void>
}
