import type { Meter } from '../computing/meter.ts'
import type {
  LedgerVerification,
  Owner,
  ReadyReport,
  Reason,
  ReportQuery,
  ReportRequest,
  VerifyLedgerRequest,
} from '@remit/contract'
import type { Ask, Overlay } from '../authorize/stage.ts'
import type { AnyDatabase } from '../db/portable.ts'
import type { Impersonations } from '../caller/impersonations.ts'
import type { Credentials } from '../keys/credentials.ts'
import type { EntryDraft } from '../ledger/format/draft.ts'
import type { Scope as WorkScope } from '../ledger/write/work.ts'

/**
 * What modules offer each other. A module provides a port in its contribution and others ask for it
 * by name; commercial packages meet here and nowhere else.
 */
export interface Ports {
  /** Measured spend in place of the ledger's own totals. */
  readonly spendSource: SpendSource
  /** Stops and releases single agents. */
  readonly agentSwitch: AgentSwitch
  /** Who the organization's agents are. */
  readonly agentRegistry: AgentRegistry
  /** Records refused impersonations. */
  readonly impersonations: Impersonations
  /** What agents call with. */
  readonly credentials: Credentials
  /** The language of conditions. */
  readonly conditions: Conditions
  /** Policy rules before they count. */
  readonly ruleTrials: RuleTrials
  /** Verification and reports, for the operator. */
  readonly compliance: Compliance
}

/** A window of spend: a UTC calendar day (`2026-11-20`) or month (`2026-11`). */
export interface SpendQuery {
  readonly orgId: string
  readonly agentId: string
  readonly window: string
}

/** Where spend is read from when it is not the ledger. */
export interface SpendSource {
  /** USD spent in the window, a finite number of at least 0. A rejection or an aborted signal denies. */
  spent(query: SpendQuery, signal: AbortSignal): Promise<number>
}

/** The operator's emergency stop of an agent; `person`: by whose word, for the entry of it. */
export interface AgentSwitch {
  suspend(orgId: string, agentId: string, reason: string | null, person?: string): Promise<void>
  resume(orgId: string, agentId: string, person?: string): Promise<void>
  /** Hands the stop of an agent over to the registry, within a change: its reason, `''` without one; null for no stop. */
  release(scope: WorkScope, agentId: string): Promise<string | null>
}

/** The registry of agents. What it says of an agent is the one truth about it. */
export interface AgentRegistry {
  /** Every agent that is or was registered, as the transaction sees them; never changed afterwards. */
  load(orgId: string, tx: AnyDatabase): Promise<ReadonlyMap<string, RegisteredAgent>>
  /** Suspends an agent within a change; the entry of it, or null where it is not registered. */
  suspend(scope: WorkScope, agentId: string, reason: string | null): Promise<EntryDraft | null>
  /** Lets an agent act again within a change; the entry of it, or null where it is not registered. */
  resume(scope: WorkScope, agentId: string): Promise<EntryDraft | null>
}

export interface RegisteredAgent {
  readonly status: 'active' | 'suspended' | 'removed'
  /** Why it is suspended. */
  readonly reason: string | null
  readonly owners: readonly Owner[]
  /** What conditions read as `agent`. */
  readonly attributes: Readonly<Record<string, unknown>>
}

/** What is known of the variables of a condition before it is evaluated. */
export type ConditionVariables = Readonly<Record<string, 'string' | 'record' | 'timestamp'>>

/** Conditions in CEL, for other questions than `/v1/authorize`. */
export interface Conditions {
  /** Compiles the condition of a new rule; throws `invalid_request` with the place of its fault. */
  admit(text: string, path: string, variables: ConditionVariables): CompiledCondition
  /** The condition of a stored rule; one that no longer compiles is an error at every evaluation. */
  stored(text: string, variables: ConditionVariables): CompiledCondition
  /** Values for any number of conditions, by the name of the variable; a `Date` is a moment. */
  facts(values: Readonly<Record<string, unknown>>): ConditionFacts
}

export interface CompiledCondition {
  /** Sentences about what the author may not have meant. */
  readonly warnings: readonly string[]
  /** Anything but `true` and `false` is an error, and so is what goes on after `meter` says that it is over. */
  evaluate(facts: ConditionFacts, meter?: Meter): boolean | 'error'
}

/** Values as the language takes them; made and read by the same module. */
export interface ConditionFacts {
  readonly values: Readonly<Record<string, unknown>>
}

/** Tries policy rules on what was asked before. */
export interface RuleTrials {
  /**
   * Checks an overlay as if its rules were to be created and deleted, and throws the refusal that this
   * would meet. Gives the warnings about each rule that it adds.
   */
  admit(orgId: string, overlay: Overlay): Promise<readonly (readonly string[])[]>
  /** URL of a module with `openTrial`, an `OpenTrial`, for a thread of its own to import. */
  readonly module: string
}

/** Opens a trial of the rules as the database has them, under an overlay that was admitted. */
export type OpenTrial = (
  db: AnyDatabase,
  orgId: string,
  overlay: Overlay | null,
) => Promise<RuleTrial>

/** Rules on trial; they do not change while it lasts. */
export interface RuleTrial {
  /** How many policy rules count, those of the overlay included. */
  readonly policies: number
  readonly approvalRules: number
  readonly defaultEffect: 'allow' | 'deny'
  /** The same for the same rules, and for no others. */
  readonly digest: string
  /** What the policies say; `agent` is what conditions read under that name, null where nobody knows. */
  judge(ask: Ask, agent: Readonly<Record<string, unknown>> | null): TrialVerdict
  /** The approval rules that match a request that was judged. */
  approvalRulesFor(ask: Ask): readonly string[]
}

/** `unknown`: a rule that may be about it reads what nobody knows of the agent. */
export type TrialVerdict =
  | { readonly says: 'unknown' }
  | { readonly says: 'pass'; readonly reason: Reason | null; readonly policy: string | null }
  | { readonly says: 'deny'; readonly reason: Reason; readonly policy: string | null }

/** What the endpoints of compliance do, asked for by the operator and not by a key. */
export interface Compliance {
  /** `checkpoints` are signed notes that were kept elsewhere; throws `invalid_request` for what is none, or of another ledger. */
  verify(
    orgId: string,
    request: Omit<VerifyLedgerRequest, 'checkpoint'> & { readonly checkpoints?: readonly string[] },
    onProgress: OnProgress,
  ): Promise<LedgerVerification>
  /** Makes and records a report; the text is in the format of the query. */
  report(
    orgId: string,
    request: ReportRequest,
    query: ReportQuery,
    onProgress: OnProgress,
  ): Promise<{ readonly report: ReadyReport; readonly text: string }>
}

/** Told from time to time how many of how many entries have been read. */
export type OnProgress = (done: number, total: number) => void
