import type { FactEntry } from '../entry.ts'
import { agentReducers } from './agents.ts'
import type { AgentState, StopState } from './agents.ts'
import { approvalReducers } from './approvals.ts'
import type { ApprovalState } from './approvals.ts'
import { credentialReducers, isLive } from './credentials.ts'
import type { CredentialState } from './credentials.ts'
import type { Reducer } from './reducer.ts'
import { issuerReducers } from './issuers.ts'
import type { IssuerState } from './issuers.ts'
import { keyReducers } from './keys.ts'
import type { KeyState } from './keys.ts'
import { organizationReducers } from './organization.ts'
import type { OrganizationState } from './organization.ts'
import { People, personReducers } from './people.ts'
import { permissionReducers } from './permissions.ts'
import type { PermissionState } from './permissions.ts'
import { ruleReducers } from './rules.ts'
import type { RuleState } from './rules.ts'
import { RulesInForce } from './rules-in-force.ts'
import { spendLimitReducers } from './spend-limits.ts'
import type { SpendLimitState } from './spend-limits.ts'

const FOLDS: ReadonlyMap<string, Reducer> = new Map(
  Object.entries({
    ...organizationReducers,
    ...keyReducers,
    ...personReducers,
    ...agentReducers,
    ...credentialReducers,
    ...issuerReducers,
    ...ruleReducers,
    ...permissionReducers,
    ...spendLimitReducers,
    ...approvalReducers,
  }),
)

/**
 * The configuration of an organization after the applied entries, derived from these entries alone.
 * Meters read it and never change it.
 */
export class FactState {
  organization: OrganizationState | null = null
  readonly keys = new Map<string, KeyState>()
  readonly people = new People()
  readonly agents = new Map<string, AgentState>()
  /** By agent, registered or not; removals too. */
  readonly stops = new Map<string, StopState>()
  /** `open` or `granted`, for agents with a mode. */
  readonly modes = new Map<string, string>()
  /** Credentials that were not revoked; expired ones are removed occasionally: see `isLive`. */
  readonly credentials = new Map<string, CredentialState>()
  readonly permissions = new Map<string, PermissionState>()
  readonly policies = new Map<string, RuleState>()
  readonly approvalRules = new Map<string, RuleState>()
  readonly spendLimits = new Map<string, SpendLimitState>()
  readonly trustPolicies = new Map<string, RuleState>()
  readonly issuers = new Map<string, IssuerState>()
  readonly approvals = new Map<string, ApprovalState>()
  /** The server records daily heartbeats. */
  isBeating = false
  /** The permissions that deny. */
  readonly denies = new Map<string, PermissionState>()
  /** Change with every change of rules or denials; for caches derived from them. */
  rulesVersion = 0
  deniesVersion = 0
  /** Rules in force at a time, cached until one changes or a window opens or closes. */
  readonly inForce = new RulesInForce(this)
  /** Entries of state-changing kinds whose payload was erased, by kind: their change is unknown. */
  readonly #lost = new Map<string, number>()
  /** Approval requests closed before this time are not kept; milliseconds. */
  readonly keepClosedSince: number
  #sweepAt = 1024

  constructor(keepClosedSince = 0) {
    this.keepClosedSince = keepClosedSince
  }

  /** Returns whether entries of a kind change the state. */
  static reads(kind: string): boolean {
    return FOLDS.has(kind)
  }

  apply(entry: FactEntry): void {
    const fold = FOLDS.get(entry.kind)
    if (!fold) return
    if (entry.erased) {
      this.#lost.set(entry.kind, this.lost(entry.kind) + 1)
      this.rulesVersion += 1
    } else fold(this, entry)
  }

  /** Returns the number of erased entries of these kinds, whose changes the state lacks. */
  lost(...kinds: readonly string[]): number {
    if (this.#lost.size === 0) return 0
    return kinds.reduce((sum, kind) => sum + (this.#lost.get(kind) ?? 0), 0)
  }

  /** The person behind an actor; null for a shared key, a credential or the server. */
  personOf(actor: FactEntry['actor']): string | null {
    if (actor?.type === 'person') return actor.id
    return actor?.type === 'key' ? (this.keys.get(actor.id)?.person ?? null) : null
  }

  /** Removes expired credentials occasionally, so that exchanges do not accumulate. */
  sweepCredentials(now: number): void {
    if (this.credentials.size < this.#sweepAt) return
    for (const [id, one] of this.credentials) if (!isLive(one, now)) this.credentials.delete(id)
    this.#sweepAt = Math.max(1024, 2 * this.credentials.size)
  }
}
