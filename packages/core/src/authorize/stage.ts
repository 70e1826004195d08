import type {
  AuthorizeAnswer,
  AuthorizeRequest,
  Decision,
  Match,
  Plan,
  Reason,
} from '@remit/contract'
import type { Transaction } from 'kysely'
import type { BulkInsert } from '../db/portable.ts'
import type { Meter } from '../computing/meter.ts'
import type { Caller } from '../caller/caller.ts'
import type { EntryDraft } from '../ledger/format/draft.ts'

/** What another protocol says about a request beyond `/v1/authorize`; nobody vouches for it. */
export interface Claims {
  /** For whom the agent acts (AuthZEN `subject`). */
  readonly subject?: Readonly<Record<string, unknown>>
  /** AuthZEN `action.properties`. */
  readonly actionProperties?: Readonly<Record<string, unknown>>
}

/** One request on its way through the stages. */
export interface Ask {
  readonly orgId: string
  readonly plan: Plan
  readonly decisionId: string
  /** Who asks, or null for a preview by the server itself. */
  readonly caller: Caller | null
  readonly request: AuthorizeRequest
  readonly claims: Claims
  /** `type:id`, or null without a resource. */
  readonly resource: string | null
  /** The time of the batch, milliseconds; the same for every request in it. */
  readonly now: number
  /** What the conditions of all stages may compute for it. */
  readonly meter: Meter
}

/** What a stage says about a request, with what it knows. */
export type Verdict =
  | Pass
  | {
      readonly verdict: 'deny'
      readonly reason: Reason
      readonly message: string
      readonly notes?: Notes
    }
  | {
      readonly verdict: 'needs_approval'
      readonly reason: Reason
      readonly message: string
      readonly notes?: Notes
      readonly effect?: unknown
    }

export interface Pass {
  readonly verdict: 'pass'
  /** The allow's reason, should this stage be the last to give one (`policy_allow`, `approved`). */
  readonly reason?: Reason
  readonly notes?: Notes
  /** Handed to `apply` and `record` if the request is allowed in the end. */
  readonly effect?: unknown
}

/** Parts that a stage adds to the answer and to the entry's data. */
export interface Notes {
  readonly matched?: readonly Match[]
  readonly answer?: Partial<
    Pick<AuthorizeAnswer, 'spend' | 'limit_usd' | 'approval' | 'request_id'>
  >
  readonly data?: Readonly<Record<string, unknown>>
  readonly warnings?: readonly string[]
}

/** An effect that stands, since the request's decision is the one it was meant for. */
export interface Settled {
  readonly ask: Ask
  readonly decision: Decision
  readonly effect: unknown
}

/** Rules that a preview adds to those of the organization, and ids of rules that it leaves out. */
export interface Overlay {
  readonly add: readonly unknown[]
  readonly remove: readonly string[]
  /** In place of the organization's own. */
  readonly default_effect?: 'allow' | 'deny' | undefined
}

type Tx = Transaction<never>

/**
 * One check of the decision path. `load`, `prepare`, `gather` and `record` do I/O for a whole batch;
 * `match`, `decide` and `apply` are pure and synchronous, so a dry-run uses the same.
 *
 * Conditions are evaluated before the batch is prepared, in `match` or in the `decide` of a stage
 * without `prepare`: what there is no computing time for is neither prepared nor decided.
 *
 * A stage that throws in `load`, `prepare` or `gather` has no answer: the batch is decided again with
 * the stage marked unavailable, and it denies with `unavailable`.
 */
export interface Stage<Snapshot = unknown, Outside = unknown, State = unknown, Matched = unknown> {
  /** Reason and sentence of the denial when the stage cannot answer. */
  readonly unavailable: { readonly reason: Reason; readonly message: string }
  /** Compiled, immutable rules of an organization; kept until its `config_version` moves. */
  load(orgId: string, tx: Tx): Promise<Snapshot>
  /** Facts from outside the database, asked before the transaction begins. */
  readonly gather?: (asks: readonly Ask[], snapshot: Snapshot) => Promise<Outside>
  /** Evaluates the conditions over one request, for a stage that prepares; undefined where it has no rules. */
  match?(ask: Ask, snapshot: Snapshot): Matched | undefined
  /**
   * What the whole batch needs from the database, under the ledger's lock; a preview undoes what it
   * writes. `matched` lacks requests without rules, and those that an earlier stage denies. A stage without `prepare` decides
   * by its snapshot.
   */
  prepare?(
    asks: readonly Ask[],
    snapshot: Snapshot,
    tx: Tx,
    outside: Outside | undefined,
    matched: ReadonlyMap<Ask, Matched>,
  ): Promise<State>
  /** The snapshot with a preview's rules laid over it; throws a `Failure` for rules that it cannot take. */
  readonly overlay?: (snapshot: Snapshot, overlay: Overlay) => Snapshot
  /** A warning for an organization whose plan leaves this stage out although it has rules for it. */
  readonly leftOut?: (snapshot: Snapshot) => string | null
  decide(ask: Ask, state: State): Verdict
  /** Makes a settled effect visible to the later requests of the batch. */
  apply?(settled: Settled, state: State): void
  /**
   * Writes what the batch settled; further entries for the ledger may be returned. Rows that are
   * pushed to `writes` go to the database together with the entries.
   */
  record?(
    settled: readonly Settled[],
    state: State,
    tx: Tx,
    writes: BulkInsert[],
  ): Promise<readonly EntryDraft[] | void>
}
