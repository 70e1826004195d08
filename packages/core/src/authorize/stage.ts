import type {
  AuthorizeAnswer,
  AuthorizeRequest,
  Decision,
  Match,
  ObservedRule,
  Plan,
  PolicyOverlay,
  Reason,
} from '@remit/contract'
import type { SnapshotPart } from '@remit/contract/entries'
import type { AnyDatabase } from '../db/portable.ts'
import type { BulkInsert } from '../db/write-rows.ts'
import type { Meter } from '../computing/computing.ts'
import type { Caller } from '../caller/caller.ts'
import type { EntryData, EntryDraft } from '../ledger/format/draft.ts'
import type { OrganizationAtVersion } from '../limits/at-version.ts'

/** The fixed positions of the decision path, in order of evaluation. */
export const SLOTS = ['agent_deny', 'spend_limit', 'policy', 'approval_rule'] as const
export type Slot = (typeof SLOTS)[number]

/** Slots that the team plan includes; the rest require enterprise. */
export const TEAM_SLOTS: ReadonlySet<Slot> = new Set(['agent_deny', 'spend_limit'])

/** The request of a call if its name is read in another way: members of `context` are replaced. */
export interface Reading {
  readonly resource: string
  readonly context: Readonly<Record<string, unknown>>
}

/** Facts that the caller claims, in part of protocols other than `/v1/authorize`. Unverified. */
export interface ClaimedFacts {
  /** Other readings of a name; the strictest decision of all counts. */
  readonly readings?: readonly Reading[]
  /** Why no rule can judge the call, which is then denied. */
  readonly unmappable?: string
  /** The principal that the agent acts for; AuthZEN `subject`, or that of the request. */
  readonly subject?: Readonly<Record<string, unknown>>
  /** AuthZEN `action.properties`. */
  readonly actionProperties?: Readonly<Record<string, unknown>>
}

/** One request on its way through the stages. */
export interface Ask {
  readonly orgId: string
  readonly plan: Plan
  readonly decisionId: string
  /** The caller, or null for a preview by the server itself. */
  readonly caller: Caller | null
  readonly request: AuthorizeRequest
  readonly claims: ClaimedFacts
  /** `type:id`, or null without a resource. */
  readonly resource: string | null
  /** The time of the batch, milliseconds; the same for every request in it. */
  readonly now: number
  /** The place among `claims.readings` that this asks about; absent for the request itself. */
  readonly reading?: number
  /** Limits the computing time of the conditions of all stages. */
  readonly meter: Meter
  /** The registry's attributes of the agent, which conditions read. Set by the first stage. */
  agent?: Readonly<Record<string, unknown>> | undefined
  /** See `memoOf`. */
  memo?: AskMemo | undefined
}

/** Values that rules computed from one request. */
export interface AskMemo {
  readonly of: Ask
  readings?: readonly Ask[]
  /** The facts that conditions read. */
  facts?: unknown
}

/** Returns the memo of a request; a changed copy of the request has one of its own. */
export const memoOf = (ask: Ask): AskMemo =>
  ask.memo?.of === ask ? ask.memo : (ask.memo = { of: ask })

/** The place of a counter: what is counted, and in which window (`2026-11-20`). */
export interface CounterKey {
  readonly subject: string
  readonly window: string
}

/** A change of a counter: integers, such as micro-USD. */
export interface Move extends CounterKey {
  readonly used: number
  readonly held: number
}

/** The state of a counter for the next request of a batch. */
export interface Counter {
  used: number
  held: number
  /** `used + held` at the start of the batch. */
  before: number
  /** It has been moved before, even if it is at zero again. */
  isKnown?: true
}

/** The counters of a batch: read before it is judged, moved by its decisions, written once. */
export interface Counters {
  /** Returns the counter itself; one that was not read is zero. */
  of(subject: string, window: string): Counter
  apply(moves: readonly Move[]): void
  /** The rows to write. */
  writes(): readonly BulkInsert[]
}

/** A counter to read. */
export interface CounterNeed extends CounterKey {
  /** Holds on it can end by themselves. */
  readonly mayEnd: boolean
}

/** Reads counters; provided by the module that has their tables. */
export interface CounterSource {
  read(needs: readonly CounterNeed[], scope: DecisionScope): Promise<Counters>
}

/** The result of a stage for one request. */
export type StageVerdict =
  | Pass
  | {
      readonly verdict: 'deny'
      readonly reason: Reason
      readonly message: string
      readonly notes?: StageNotes
      /** The error of the stage, which could not decide. */
      readonly failed?: unknown
    }
  | {
      readonly verdict: 'needs_approval'
      readonly reason: Reason
      readonly message: string
      readonly notes?: StageNotes
      readonly effect?: unknown
      readonly moves?: undefined
      readonly failed?: undefined
    }

export interface Pass {
  readonly verdict: 'pass'
  /** The reason for an allow if no later stage gives one (`policy_allow`, `approved`). */
  readonly reason?: Reason
  readonly notes?: StageNotes
  /** Members of the entry if the request is allowed in the end. */
  readonly allowed?: Partial<DecisionData>
  /** Passed to `apply` and `record` if the request is allowed in the end. */
  readonly effect?: unknown
  /** The changes of counters that the effect stands for. */
  readonly moves?: readonly Move[]
  readonly failed?: undefined
}

/** The data of the entry of a decision. */
export type DecisionData = EntryData<'authorization.decided'>

/** Members that a stage adds to the response and to the data of the entry. */
export interface StageNotes {
  readonly matched?: readonly Match[]
  readonly answer?: Partial<
    Pick<
      AuthorizeAnswer,
      | 'agent'
      | 'spend'
      | 'limit_usd'
      | 'budgets'
      | 'budgets_omitted'
      | 'retry_at'
      | 'approval'
      | 'request_id'
    >
  >
  readonly data?: Partial<DecisionData>
  readonly warnings?: readonly string[]
}

/** An effect that applies, because the final decision is the one that it was meant for. */
export interface Effect {
  readonly slot: Slot
  readonly ask: Ask
  readonly decision: Decision
  readonly effect: unknown
  readonly moves: readonly Move[] | undefined
}

/**
 * Rules that a preview adds to those of the organization, and names of rules that it removes; rules other
 * than policies replace those of their name. `RuleTrials.admit` validates them.
 */
export interface Overlay extends Readonly<Omit<PolicyOverlay, 'add' | 'remove'>> {
  /** Policies. */
  readonly add: readonly unknown[]
  readonly remove: readonly string[]
  /** Every agent counts as active and registered. */
  readonly agents_are_active?: true
  /** All counters are zero. */
  readonly nothing_spent?: true
}

/** The transaction of a batch, with its organization and its time. */
export interface DecisionScope {
  readonly orgId: string
  readonly tx: AnyDatabase
  /** The time of the decisions in milliseconds; the same for every request of the batch. */
  readonly now: number
  readonly organization: OrganizationAtVersion
}

/** The scope in which a stage loads its rules. */
export type LoadScope = Omit<DecisionScope, 'now'>

/** Returns the observed rules that match a request, and what they would decide. Pure. */
export type Observer = (ask: Ask, meter: Meter) => readonly ObservedRule[]

/**
 * One check of the decision path. `load`, `prepare`, `gather` and `record` do I/O for a whole
 * batch; `match`, `decide` and `apply` are pure and synchronous, so that a dry-run uses the same.
 *
 * Conditions are evaluated before the batch is prepared, in `match` or in the `decide` of a stage
 * without `prepare`. Requests without computing time left are neither prepared nor decided.
 *
 * If a stage throws in `load`, `counts`, `prepare` or `gather`, the batch is decided again with the stage
 * marked as unavailable, and the stage denies with `unavailable`.
 */
export interface Stage<Snapshot = unknown, Outside = unknown, State = unknown, Matched = unknown> {
  /** Reason and message of the denial when the stage is unavailable. */
  readonly unavailable: { readonly reason: Reason; readonly message: string }
  /**
   * The parts that `load` depends on, beside the organization: rules are kept while none of them
   * changes. Unless given, they are loaded again for every version of the configuration.
   */
  readonly reads?: readonly SnapshotPart[]
  /**
   * Loads the compiled, immutable rules of an organization; cached until its `config_version`
   * changes.
   */
  load(scope: LoadScope): Promise<Snapshot>
  /** Gathers external facts before the transaction begins. */
  gather?(asks: readonly Ask[], snapshot: Snapshot): Promise<Outside>
  /** Returns the counters that the decisions of these requests need. Pure. */
  counts?(asks: readonly Ask[], snapshot: Snapshot, now: number): readonly CounterNeed[]
  /**
   * Evaluates the conditions for one request, for a stage with `prepare`; undefined if it has no
   * rules.
   */
  match?(ask: Ask, snapshot: Snapshot): Matched | undefined
  /**
   * Reads the data of the whole batch from the database, under the ledger lock; a preview rolls its
   * writes back. `matched` excludes requests without rules and those that an earlier stage denies.
   * A stage without `prepare` decides from its snapshot.
   */
  prepare?(
    asks: readonly Ask[],
    snapshot: Snapshot,
    scope: DecisionScope & { readonly counters: Counters | null },
    outside: Outside | undefined,
    matched: ReadonlyMap<Ask, Matched>,
  ): Promise<State>
  /**
   * Returns the snapshot with the rules of a preview added; throws a `Failure` for rules that it
   * does not support.
   */
  overlay?(snapshot: Snapshot, overlay: Overlay): Snapshot
  /**
   * Returns a warning if the plan of the organization excludes this stage although it has rules.
   */
  leftOut?(snapshot: Snapshot): string | null
  /** Returns the observer of the rules in the mode `observe`; null without such rules. */
  observer?(snapshot: Snapshot): Observer | null
  decide(ask: Ask, state: State): StageVerdict
  /** Returns whether a stored answer, as JSON, awaits something that has happened since. */
  hasEnded?(answer: string, orgId: string, tx: AnyDatabase, now: number): Promise<boolean>
  /** Makes an effect visible to the later requests of the batch. */
  apply?(effect: Effect, state: State): void
  /**
   * Writes the effects of the batch and may return further ledger entries. Rows pushed to `scope.writes`
   * go to the database together with the entries.
   */
  record?(
    effects: readonly Effect[],
    state: State,
    scope: DecisionScope & { readonly writes: BulkInsert[] },
  ): Promise<readonly EntryDraft[] | void>
}
