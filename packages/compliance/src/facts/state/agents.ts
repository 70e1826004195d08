import type { EntryReading } from '@remit/contract/entries'
import { matchesPattern } from '@remit/contract/patterns'
import { timeOf } from '../entry.ts'
import type { FactEntry } from '../entry.ts'
import { recordedObject } from './reducer.ts'
import type { Reducer, Reducers, RecordedObject } from './reducer.ts'
import type { FactState } from './state.ts'

type AgentKind = 'agent.registered' | 'agent.updated' | 'agent.suspended' | 'agent.resumed'
type AgentReading = NonNullable<EntryReading<AgentKind>['agent']>

/** A registered agent. Removed agents are kept: their ids are never reused. */
export interface AgentState extends RecordedObject {
  readonly owners: NonNullable<AgentReading['owners']>
  readonly isRemoved: boolean
}

/** The reason of a stop, and its entry. A removal is final. */
export interface StopState {
  readonly cause: 'suspended' | 'removed'
  readonly seq: number
}

const keepAgent: Reducer<AgentKind> = (state, entry, { agent }) => {
  const id = agent?.agent_id ?? null
  if (!agent || id === null) return
  const before = state.agents.get(id)
  const owners = agent.owners ?? []
  state.agents.set(id, { ...recordedObject(id, agent, entry, before), owners, isRemoved: false })
  // An agent that was stopped before its registration stays stopped.
  if (agent.status === 'suspended') stop(state, entry, id, 'suspended')
  else lift(state, id)
}

function stop({ stops }: FactState, { seq }: FactEntry, id: string, cause: StopState['cause']) {
  if (stops.get(id)?.cause !== cause) stops.set(id, { cause, seq })
}

function lift(state: FactState, agentId: string): void {
  if (state.stops.get(agentId)?.cause === 'suspended') state.stops.delete(agentId)
}

export const agentReducers: Reducers = {
  'agent.registered': keepAgent,
  'agent.updated': keepAgent,
  'agent.suspended': (state, entry, data) => {
    keepAgent(state, entry, data)
    const id = entry.agent_id ?? data.agent_id
    if (id !== null) stop(state, entry, id, 'suspended')
  },
  'agent.resumed': (state, entry, data) => {
    keepAgent(state, entry, data)
    const id = entry.agent_id ?? data.agent_id
    if (id !== null) lift(state, id)
  },
  'agent.removed': (state, entry, data) => {
    const id = entry.agent_id ?? data.agent_id
    if (id === null) return
    const agent = state.agents.get(id)
    if (agent) state.agents.set(id, { ...agent, isRemoved: true })
    stop(state, entry, id, 'removed')
    endCredentials(state, data.revoked_credentials)
  },
}

const MOST_AGENTS = 10_000

/** Permissions by agent, built once and read for every decision. */
export class ByAgent {
  readonly #exact = new Map<string, PermissionState[]>()
  readonly #patterns: PermissionState[] = []
  readonly #known = new Map<string, readonly PermissionState[]>()

  constructor(permissions: Iterable<PermissionState>) {
    for (const one of permissions) {
      const same = this.#exact.get(one.agentId)
      if (one.agentId.includes('*')) this.#patterns.push(one)
      else if (same) same.push(one)
      else this.#exact.set(one.agentId, [one])
    }
  }

  of(agentId: string): readonly PermissionState[] {
    const exact = this.#exact.get(agentId) ?? NONE
    if (this.#patterns.length === 0) return exact
    const known = this.#known.get(agentId)
    if (known) return known
    const all = [...exact, ...this.#patterns.filter((one) => matchesPattern(one.agentId, agentId))]
    if (this.#known.size < MOST_AGENTS) this.#known.set(agentId, all)
    return all
  }
}

const NONE: readonly PermissionState[] = []

/** A credential that was not revoked. `isLive` considers its expiry. */
export interface CredentialState extends RecordedObject {
  readonly agentId: string
  readonly scopes: readonly string[]
  /** Milliseconds; null where none was recorded. */
  readonly expiresAt: number | null
  /** The trusted issuer, for a token exchange. */
  readonly idpId: string | null
}

export const isLive = ({ expiresAt }: CredentialState, time: number): boolean =>
  expiresAt === null || time < expiresAt

/** Ends credentials by id. */
export function endCredentials({ credentials }: FactState, ids: readonly string[] | null): void {
  for (const id of ids ?? []) credentials.delete(id)
}

const keepCredential: Reducer<'credential.issued' | 'credential.rotated'> = (
  state,
  entry,
  { credential },
) => {
  const id = credential?.id ?? null
  if (!credential || id === null) return
  state.sweepCredentials(entry.time)
  state.credentials.set(id, {
    ...recordedObject(id, credential, entry, undefined),
    agentId: credential.agent_id ?? entry.agent_id ?? '',
    scopes: credential.scopes ?? [],
    expiresAt: timeOf(credential.expires_at),
    idpId: credential.idp_id,
  })
}

export const credentialReducers: Reducers = {
  'credential.issued': keepCredential,
  'credential.rotated': (state, entry, data) => {
    keepCredential(state, entry, data)
    const { rotated_from: from } = data
    const old = state.credentials.get(from?.id ?? '')
    if (from && old) state.credentials.set(old.id, { ...old, expiresAt: timeOf(from.expires_at) })
  },
  'credential.revoked': (state, _, { credential, credential_ids: ids }) => {
    endCredentials(state, [credential?.id ?? '', ...(ids ?? [])])
  },
}

/** A permission or denial that was not revoked. */
export interface PermissionState extends RecordedObject {
  readonly effect: string
  /** For a denial, it may be a pattern. */
  readonly agentId: string
  readonly actions: readonly string[]
  readonly resources: readonly string[]
  /** The permission has a condition, which cannot be evaluated here. */
  readonly isConditional: boolean
  readonly notBefore: number | null
  readonly expiresAt: number | null
}

/** Returns whether a permission is in force at a time. */
export const isOpen = ({ notBefore, expiresAt }: PermissionState, time: number): boolean =>
  (notBefore === null || notBefore <= time) && (expiresAt === null || time < expiresAt)

export const permissionReducers: Reducers = {
  'permission.granted': (state, entry, { permission: granted }) => {
    const id = granted?.id ?? null
    if (!granted || id === null) return
    const permission: PermissionState = {
      ...recordedObject(id, granted, entry, state.permissions.get(id)),
      effect: granted.effect ?? 'allow',
      agentId: granted.agent_id ?? entry.agent_id ?? '',
      actions: granted.actions ?? [],
      resources: granted.resources ?? [],
      isConditional: granted.condition !== null,
      notBefore: timeOf(granted.not_before),
      expiresAt: timeOf(granted.expires_at),
    }
    state.permissions.set(id, permission)
    dropDeny(state, id)
    if (permission.effect === 'deny') {
      state.denies.set(id, permission)
      state.deniesVersion += 1
    }
  },
  'permission.revoked': (state, _, { revoked }) => {
    for (const id of revoked ?? []) {
      state.permissions.delete(id)
      dropDeny(state, id)
    }
  },
}

function dropDeny(state: FactState, id: string): void {
  if (state.denies.delete(id)) state.deniesVersion += 1
}
