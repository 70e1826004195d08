import type { Receipt } from '@remit/contract'
import type { Transaction } from 'kysely'
import type { BatchTime } from '../../computing/batch-time.ts'
import type { Caller } from '../../caller/caller.ts'
import type { CoreTables, LedgerEntryRow } from '../../db/schema.ts'
import { unavailable } from '../../db/failure.ts'
import { Failure } from '../../base/errors.ts'
import type { BulkInsert } from '../../db/portable.ts'
import { Replay } from '../../idempotency/claim.ts'
import type { Claim } from '../../idempotency/claim.ts'
import type { EntryDraft } from '../format/draft.ts'
import type { EntryPayload } from '../format/entry.ts'

/** What work sees of the transaction it runs in, with the organization's ledger locked. */
export interface Scope {
  readonly orgId: string
  readonly tx: Transaction<CoreTables>
  /** Milliseconds; `recordedAt` is the same as the entries will carry it. Never before the last entry. */
  readonly now: number
  readonly recordedAt: string
  readonly configVersion: number
  /**
   * Tells those who wait for this topic as soon as the transaction has committed. Only together with an
   * entry: processes that cannot listen look for those.
   */
  announce(topic: string): void
  /** What the pieces of the transaction may compute together. */
  readonly time: BatchTime
  /** Rows that are written before the next lane runs, at the latest together with the entries. */
  readonly writes: BulkInsert[]
}

/** An entry in its place, for the answer of the work that wrote it. */
export interface Recorded {
  readonly row: LedgerEntryRow
  /** What its payload was made of. */
  readonly content: EntryPayload
  readonly receipt: Receipt
}

/**
 * What to tell a client of an error that kept his work from being recorded: a refusal is one already,
 * everything else is 503 and nothing happened. The writer has logged it.
 */
export const unrecorded = (error: unknown): Failure | Replay =>
  error instanceof Failure || error instanceof Replay ? error : unavailable('ledger_unavailable')

/** The first entry of some work, for a reply that is about it. */
export function firstOf(recorded: readonly Recorded[]): Recorded {
  const [first] = recorded
  if (!first) throw new Error('the work wrote no entry')
  return first
}

/** Entries to write, and the reply once they have their places. */
export interface Outcome<Answer> {
  readonly entries: readonly EntryDraft[]
  readonly reply: (recorded: readonly Recorded[]) => Answer
}

/** What asks for the work. */
export interface Requester {
  /** Null for the server's own operator (command line, boot). */
  readonly caller: Caller | null
  readonly claim: Claim | null
  readonly wantsNote: boolean
}

/** A piece of work of a lane, with the caller as the transaction found it. */
export interface Item<Job> {
  readonly job: Job
  readonly caller: Caller | null
}

/** Thrown by a lane to have the transaction rolled back and the batch tried again. */
export class TryAgain extends Error {}

/**
 * Work of one kind, many pieces of which share a transaction. `memo` lives as long as the batch:
 * what `before` found, or what an attempt learned that ended in `TryAgain`.
 */
export interface Lane<Job, Answer> {
  readonly name: string
  /** Outside facts, before the transaction; must not throw. */
  before?(orgId: string, items: readonly Item<Job>[], memo: Map<string, unknown>): Promise<void>
  run(
    items: readonly Item<Job>[],
    scope: Scope,
    memo: Map<string, unknown>,
  ): Promise<LaneResult<Answer>>
}

/** The outcome of a piece that the transaction had no computing time for: it goes into the next one. */
export const LATER: unique symbol = Symbol('later')

export interface LaneResult<Answer> {
  /** One a piece, in order. */
  readonly outcomes: readonly (Outcome<Answer> | Failure | typeof LATER)[]
  /** Entries beyond those of single pieces. */
  readonly further?: readonly EntryDraft[]
}

/** Work that is alone in its transaction; as a change of configuration it moves `config_version`. */
export type Change<Answer> = (scope: Scope, caller: Caller | null) => Promise<Outcome<Answer>>

/** The same change with another answer. */
export const answering =
  <From, To>(change: Change<From>, answer: (value: From) => To): Change<To> =>
  async (scope, caller) => {
    const { entries, reply } = await change(scope, caller)
    return { entries, reply: (recorded) => answer(reply(recorded)) }
  }

/**
 * Told of all entries of a transaction before they are written, so that rows about them (an outbox)
 * commit with them: pushed to `scope.writes`. One that throws takes the transaction with it.
 */
export interface EntryObserver {
  observe(entries: readonly LinkedEntry[], scope: Scope): Promise<void>
}

/** An entry in its place, with what its payload was made of. */
export type LinkedEntry = Pick<Recorded, 'row' | 'content'>
