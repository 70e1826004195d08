import { foldName } from '@remit/contract/values'
import type { Plan } from '@remit/contract'
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
import { recordIn, textIn, textsIn, timeIn, isRecord } from '../recorded-json.ts'
import type { RecordedJson } from '../recorded-json.ts'

interface OrganizationState {
  readonly id: string
  readonly name: string
  readonly plan: Plan
  /** As recorded: settings at their default may be missing. */
  readonly settings: RecordedJson
  /** Milliseconds, and the entry that records it. */
  readonly createdAt: number
  readonly createdSeq: number
}

/** Action patterns that the organization considers consequential. */
export const consequentialActions = (organization: OrganizationState | null): string[] =>
  organization ? textsIn(organization.settings, 'consequential_actions') : []

/** Returns whether the default effect is `deny`. */
export const deniesByDefault = (organization: OrganizationState | null): boolean =>
  organization !== null && textIn(organization.settings, 'default_effect') === 'deny'

const PLANS: readonly string[] = ['free', 'team', 'enterprise'] satisfies Plan[]

const planIn = (object: RecordedJson): Plan => {
  const plan = textIn(object, 'plan') ?? ''
  return PLANS.includes(plan) ? (plan as Plan) : 'free'
}

const organizationReducers: Reducers = {
  'ledger.heartbeat': (state) => {
    state.isBeating = true
  },
  'organization.created': (state, { seq, time, data }) => {
    const object = recordIn(data, 'organization')
    if (!object) return
    state.organization = {
      id: textIn(object, 'id') ?? '',
      name: textIn(object, 'name') ?? '',
      plan: planIn(object),
      settings: recordIn(object, 'settings') ?? {},
      createdAt: time,
      createdSeq: seq,
    }
  },
  'organization.updated': (state, { seq, time, data }) => {
    const object = recordIn(data, 'organization')
    if (!object) return
    const before = state.organization
    state.organization = {
      id: textIn(object, 'id') ?? before?.id ?? '',
      name: textIn(object, 'name') ?? before?.name ?? '',
      plan: planIn(object),
      settings: isRecord(object['settings']) ? object['settings'] : {},
      createdAt: before?.createdAt ?? timeIn(object, 'created_at') ?? time,
      createdSeq: before?.createdSeq ?? seq,
    }
  },
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

const know: Reducer = ({ people }, { data }) => {
  const member = recordIn(data, 'member') ?? {}
  const id = textIn(member, 'id')
  const email = textIn(member, 'email')
  // The name of a disabled person can change too.
  if (id && email && textIn(member, 'status') !== 'disabled') people.add(id, email)
}

const forget: Reducer = ({ people }, { data }) =>
  people.leave(textIn(recordIn(data, 'member') ?? {}, 'id') ?? '')

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
interface IssuerState extends RecordedObject {
  readonly issuer: string
  readonly enabled: boolean
  readonly expiresAt: number | null
}

const issuerReducers: Reducers = {
  'issuer.trusted': (state, entry) => {
    const object = recordIn(entry.data, 'issuer')
    const id = object && textIn(object, 'id')
    if (!object || id === null) return
    state.issuers.set(id, {
      ...recordedObject(id, object, entry, undefined),
      issuer: textIn(object, 'issuer') ?? '',
      enabled: object['enabled'] !== false,
      expiresAt: timeIn(object, 'expires_at'),
    })
  },
  'issuer.removed': (state, entry) => {
    const object = recordIn(entry.data, 'issuer')
    state.issuers.delete((object && textIn(object, 'id')) ?? '')
    endCredentials(state, entry, textsIn(entry.data, 'revoked_credentials'))
  },
}

/** An ingest key. A revoked one is kept, since earlier entries name it. */
interface KeyState {
  readonly id: string
  readonly role: string
  /** The person of the key; null for a shared one. */
  readonly person: string | null
  readonly seq: number
  readonly time: number
  readonly revoked: { readonly seq: number; readonly time: number } | null
}

const keyReducers: Reducers = {
  'key.created': (state, { seq, time, data }) => {
    const object = recordIn(data, 'key')
    const id = object && textIn(object, 'id')
    if (!object || id === null) return
    const role = textIn(object, 'role') ?? ''
    state.keys.set(id, { id, role, person: textIn(object, 'person'), seq, time, revoked: null })
  },
  'key.revoked': (state, { seq, time, data }) => {
    const key = state.keys.get(textIn(data, 'key_id') ?? '')
    if (key) state.keys.set(key.id, { ...key, revoked: { seq, time } })
  },
}

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
