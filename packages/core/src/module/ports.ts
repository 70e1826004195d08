import type {
  LedgerVerification,
  Owner,
  PlanReplay,
  ReadyReport,
  Reason,
  ReportQuery,
  ReportRequest,
  TriedRule,
  Usage,
  VerifyLedgerRequest,
} from '@remit/contract'
import type { Meter } from '../computing/computing.ts'
import type { Ask, CounterSource, Overlay } from '../authorize/stage.ts'
import type { ToolDecisions } from '../authorize/tool-decisions.ts'
import type { AnyDatabase } from '../db/portable.ts'
import type { Impersonations } from '../caller/caller.ts'
import type { PeopleSessions } from '../sessions/people.ts'
import type { Credentials } from '../keys/credentials.ts'
import type { EntryDraft } from '../ledger/format/draft.ts'
import type { LedgerScope } from '../ledger/write/work.ts'

/**
 * Interfaces between modules. A module provides a port in its contribution and others request it by
 * name; commercial packages depend on each other in no other way.
 */
export interface Ports {
  /** Suspends and resumes single agents. */
  readonly agentSwitch: AgentSwitch
  readonly agentRegistry: AgentRegistry
  /** Records refused impersonations. */
  readonly impersonations: Impersonations
  readonly credentials: Credentials
  /** Counters that decisions read and move. */
  readonly counters: CounterSource
  readonly people: PeopleSessions
  readonly conditions: Conditions
  /** Checks policy rules before they are in force. */
  readonly ruleTrials: RuleTrials
  /** Verification and reports for the operator. */
  readonly compliance: Compliance
  /** The spend of organizations against their ledgers. */
  readonly spendAccounts: SpendAccounts
  /** Decisions on the tool calls of agent hosts; absent without the module. */
  readonly toolDecisions: ToolDecisions
  readonly usageCounts: UsageCounts
  /** Replays recorded decisions under other rules. */
  readonly replays: Replays
}

/** Recorded decisions under other rules. */
export interface Replays {
  /** Counts the decisions of a period that would differ under an admitted overlay. */
  count(
    orgId: string,
    overlay: Overlay,
    period: { readonly from: string; readonly to: string; readonly max_decisions: number },
  ): Promise<PlanReplay>
}

/** Usage that is counted from ledgers. */
export interface UsageCounts {
  /** Returns the usage of the hours between two times; by default of the last day. */
  hours(
    orgId: string,
    between: { readonly from?: string | undefined; readonly to?: string | undefined },
  ): Promise<Usage>
}

/** Spend totals and holds, computed again from the entries of the ledger. */
export interface SpendAccounts {
  compare(orgId: string): Promise<SpendComparison>
  /** Replaces totals and holds by those of the ledger; the ledger must be complete. */
  rebuild(orgId: string): Promise<SpendComparison>
}

/** Amounts in USD of one agent and window. */
interface SpendAmounts {
  readonly spent_usd: number
  readonly held_usd: number
}

/** The stored totals beside those of the ledger. */
export interface SpendComparison {
  /** Entries that can move spend. */
  readonly entries: number
  /** Those whose payload was erased. */
  readonly erased: number
  readonly pruned: boolean
  /** False if entries are missing, so that the totals of the ledger are too low. */
  readonly complete: boolean
  readonly differences: readonly {
    readonly agent_id: string
    readonly window: string
    readonly stored: SpendAmounts
    readonly ledger: SpendAmounts
  }[]
  /** Those of budgets. */
  readonly budgets: readonly {
    readonly budget: string
    /** Of a budget with `per`; null for the counter that requests without a value share. */
    readonly value?: string | null | undefined
    readonly unit: string
    readonly window: string
    readonly stored: UnitAmounts
    readonly ledger: UnitAmounts
  }[]
}

/** Amounts in the unit of a budget. */
interface UnitAmounts {
  readonly used: number
  readonly held: number
}

/** The operator's emergency stop of an agent; `person` is recorded in the entry. */
export interface AgentSwitch {
  suspend(orgId: string, agentId: string, reason: string | null, person?: string): Promise<void>
  resume(orgId: string, agentId: string, person?: string): Promise<void>
  /**
   * Moves the suspension of an agent to the registry, within a change. Returns its reason, `''`
   * without one; null for no suspension.
   */
  release(scope: LedgerScope, agentId: string): Promise<string | null>
  /** Returns the suspended agents outside the registry, with the reason. */
  stopped(orgId: string, tx: AnyDatabase): Promise<ReadonlyMap<string, string>>
}

/** The registry of agents, the single source of truth about them. */
export interface AgentRegistry {
  /** Returns every agent that is or was registered, in the transaction; immutable. */
  load(orgId: string, tx: AnyDatabase): Promise<ReadonlyMap<string, RegisteredAgent>>
  /** Suspends an agent within a change; returns its entry, or null if it is not registered. */
  suspend(
    scope: LedgerScope,
    agentId: string,
    reason: string | null,
  ): Promise<EntryDraft<'agent.suspended'> | null>
  /** Resumes an agent within a change; returns its entry, or null if it is not registered. */
  resume(scope: LedgerScope, agentId: string): Promise<EntryDraft<'agent.resumed'> | null>
}

export interface RegisteredAgent {
  readonly status: 'active' | 'suspended' | 'removed'
  readonly reason: string | null
  readonly owners: readonly Owner[]
  /** The attributes that conditions read as `agent`. */
  readonly attributes: Readonly<Record<string, unknown>>
}

export type ConditionVariables = Readonly<
  Record<string, 'string' | 'double' | 'record' | 'timestamp'>
>

/** CEL conditions, for requests other than `/v1/authorize`. */
export interface Conditions {
  /**
   * Compiles the condition of a new rule; throws `invalid_request` with the position of the error.
   */
  admit(text: string, path: string, variables: ConditionVariables): CompiledCondition
  /** Compiles the condition of a stored rule; if that fails, every evaluation is an error. */
  stored(text: string, variables: ConditionVariables): CompiledCondition
  /**
   * Converts values for any number of conditions, by the name of the variable; a `Date` is a
   * timestamp.
   */
  facts(values: Readonly<Record<string, unknown>>): ConditionFacts
}

export interface CompiledCondition {
  /** Warnings about probable mistakes, by the effect of the rule. */
  readonly warnings: Readonly<Record<'allow' | 'deny', readonly string[]>>
  /**
   * Any result other than `true` and `false` is an error, and so is an evaluation beyond the limit
   * of `meter`.
   */
  evaluate(facts: ConditionFacts, meter?: Meter): boolean | 'error'
}

/** Values in the form of the condition language; created and read by the same module. */
export interface ConditionFacts {
  readonly values: Readonly<Record<string, unknown>>
}

/** Tests policy rules on earlier requests. */
export interface RuleTrials {
  /**
   * Validates an overlay as if its rules were created and deleted, and throws the same refusal.
   * Returns the policies, approval rules and permissions that it adds, with warnings.
   */
  admit(orgId: string, overlay: Overlay): Promise<readonly TriedRule[]>
  /** URL of a module with `openTrial`, an `OpenTrial`, for a worker thread to import. */
  readonly module: string
}

/** Opens a trial of the stored rules with a validated overlay. */
export type OpenTrial = (
  db: AnyDatabase,
  orgId: string,
  overlay: Overlay | null,
) => Promise<RuleTrial>

/** Rules of a trial; immutable while it lasts. */
export interface RuleTrial {
  /** Number of policy rules in force, including the overlay. */
  readonly policies: number
  readonly approvalRules: number
  readonly defaultEffect: 'allow' | 'deny'
  /** Identical for identical rules only. */
  readonly digest: string
  /**
   * Returns the verdict of the policies; `agent` has the attributes that conditions read, null if
   * unknown.
   */
  judge(ask: Ask, agent: Readonly<Record<string, unknown>> | null): TrialVerdict
  /** Returns the approval rules that match a judged request. */
  approvalRulesFor(ask: Ask): readonly string[]
}

/** `unknown`: a rule that may match reads an unknown attribute of the agent. */
export type TrialVerdict =
  | { readonly says: 'unknown' }
  | { readonly says: 'pass'; readonly reason: Reason | null; readonly policy: string | null }
  | { readonly says: 'deny'; readonly reason: Reason; readonly policy: string | null }

/** The compliance operations for the operator, without a key. */
export interface Compliance {
  /**
   * `checkpoints` are external signed notes; throws `invalid_request` for invalid ones or those of
   * another ledger.
   */
  verify(
    orgId: string,
    request: Omit<VerifyLedgerRequest, 'checkpoint'> & { readonly checkpoints?: readonly string[] },
    onProgress: OnProgress,
  ): Promise<LedgerVerification>
  /** Generates and records a report; the text has the format of the query. */
  report(
    orgId: string,
    request: ReportRequest,
    query: ReportQuery,
    onProgress: OnProgress,
  ): Promise<{ readonly report: ReadyReport; readonly text: string }>
}

/** Called repeatedly with the number of processed entries and the total. */
export type OnProgress = (done: number, total: number) => void

/**
 * An invalid setting of a module: the server does not start. The message never contains a secret.
 */
export class SettingError extends Error {
  override readonly name = 'SettingError'
}
