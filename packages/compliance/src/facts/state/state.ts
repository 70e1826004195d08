import type { EntryKind, EntryReading } from '@remit/contract/entries'
import { foldName } from '@remit/contract/values'
import { Plan } from '@remit/contract'
import { timeOf } from '../entry.ts'
import type { FactEntry } from '../entry.ts'
import {
  agentReducers,
  credentialReducers,
  isLive,
  permissionReducers,
  endCredentials,
} from './agents.ts'
import type { AgentState, StopState, CredentialState, PermissionState } from './agents.ts'
import { approvalReducers, ruleReducers, RulesInForce, spendLimitReducers } from './rules.ts'
import type { ApprovalState, RuleState, SpendLimitState } from './rules.ts'
import { recordedObject } from './reducer.ts'
import type { Reducer, Reducers, RecordedObject } from './reducer.ts'

type Organization = NonNullable<EntryReading<'organization.updated'>['organization']>

interface OrganizationState {
  readonly name: string
  readonly plan: Plan
  /** As recorded: settings at their default may be missing. */
  readonly settings: Organization['settings']
  /** Milliseconds. */
  readonly createdAt: number
}

/** Action patterns that the organization considers consequential. */
export const consequentialActions = (organization: OrganizationState | null) =>
  organization?.settings?.consequential_actions ?? []

/** Returns whether the default effect is `deny`. */
export const deniesByDefault = (organization: OrganizationState | null): boolean =>
  organization?.settings?.default_effect === 'deny'

const keepOrganization: Reducer<'organization.created' | 'organization.updated'> = (
  state,
  { kind, time },
  { organization },
) => {
  if (!organization) return
  const isNew = kind === 'organization.created'
  const before = isNew ? null : state.organization
  const createdAt = isNew ? time : (timeOf(organization.created_at) ?? time)
  state.organization = {
    name: organization.name ?? before?.name ?? '',
    plan: Plan.catch('free').parse(organization.plan),
    settings: organization.settings,
    createdAt: before?.createdAt ?? createdAt,
  }
}

const organizationReducers: Reducers = {
  'ledger.heartbeat': (state) => {
    state.isBeating = true
  },
  'organization.created': keepOrganization,
  'organization.updated': keepOrganization,
}

/** The names of each person: the id, and every address that the person had. */
class People {
  readonly #names = new Map<string, Set<string>>()
  /** The names of people who were disabled or removed. */
  readonly #former = new Set<ReadonlySet<string>>()

  add(id: string, email: string): void {
    const names = this.#names.get(id) ?? new Set([id])
    names.add(foldName(email))
    // A reused address remains a name of its first holder, as it does for votes.
    for (const name of names) {
      if (!this.#names.has(name)) this.#names.set(name, names)
      // Also if another person has the address now.
      this.#former.delete(this.#names.get(name) ?? names)
    }
  }

  leave(id: string): void {
    const names = this.#names.get(id)
    if (names) this.#former.add(names)
  }

  /** Returns whether one of these names is of a person who was disabled or removed. */
  isFormer(names: readonly (string | null)[]): boolean {
    return names.some((name) => {
      const of = name ? this.#names.get(foldName(name)) : undefined
      return of !== undefined && this.#former.has(of)
    })
  }

  /** Returns these names and all others of the people who have one of them, folded. */
  namesOf(names: readonly (string | null)[]): ReadonlySet<string> {
    const all = names.flatMap((name) => {
      // People of some providers have no address.
      if (!name) return []
      const folded = foldName(name)
      return [folded, ...(this.#names.get(folded) ?? [])]
    })
    return new Set(all)
  }
}

type PersonReading = Pick<EntryReading<'person.updated'>, 'member'>

const know = ({ people }: FactState, _: FactEntry, { member }: PersonReading): void => {
  const { id, email, status } = member ?? {}
  // The name of a disabled person can change too.
  if (id && email && status !== 'disabled') people.add(id, email)
}

const forget = ({ people }: FactState, _: FactEntry, { member }: PersonReading): void =>
  people.leave(member?.id ?? '')

/**
 * An address is recorded with the invitation, and a changed one with the next sign-in. A person who is
 * enabled again is updated.
 */
const personReducers: Reducers = {
  'person.invited': know,
  'person.signed_in': know,
  'person.updated': know,
  'person.disabled': forget,
  'person.removed': forget,
}

/** A trusted issuer of tokens. */
export interface IssuerState extends RecordedObject {
  readonly enabled: boolean
  readonly expiresAt: number | null
}

const issuerReducers: Reducers = {
  'issuer.trusted': (state, entry, { issuer }) => {
    const id = issuer?.id ?? null
    if (!issuer || id === null) return
    state.issuers.set(id, {
      ...recordedObject(id, issuer, entry, undefined),
      enabled: issuer.enabled !== false,
      expiresAt: timeOf(issuer.expires_at),
    })
  },
  'issuer.removed': (state, _, { issuer, revoked_credentials: revoked }) => {
    state.issuers.delete(issuer?.id ?? '')
    endCredentials(state, revoked)
  },
}

const keyReducers: Reducers = {
  'key.created': ({ keys }, _, { key }) => {
    if (key && key.id !== null) keys.set(key.id, { person: key.person, isRevoked: false })
  },
  'key.revoked': ({ keys }, _, { key_id: id }) => {
    const key = keys.get(id ?? '')
    if (key && id !== null) keys.set(id, { ...key, isRevoked: true })
  },
}

const FOLDS: ReadonlyMap<string, Reducer<never>> = new Map(
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
  /** Ingest keys by id. A revoked one is kept, since earlier entries name it; a shared one has no person. */
  readonly keys = new Map<string, { readonly person: string | null; readonly isRevoked: boolean }>()
  readonly people = new People()
  readonly agents = new Map<string, AgentState>()
  /** By agent, registered or not; removals too. */
  readonly stops = new Map<string, StopState>()
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
    } else fold(this, entry, entry.read(entry.kind as EntryKind) as never)
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
