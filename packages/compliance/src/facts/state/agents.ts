import { matchesPattern } from '@remit/contract/patterns'
import type { FactEntry } from '../entry.ts'
import { recordIn, recordsIn, textIn, textsIn, timeIn } from '../recorded-json.ts'
import { recordedObject } from './reducer.ts'
import type { Reducers, RecordedObject } from './reducer.ts'
import type { FactState } from './state.ts'

/** A registered agent. Removed agents are kept: their ids are never reused. */
export interface AgentState extends RecordedObject {
  readonly owners: readonly {
    readonly type: string | null
    readonly id: string | null
    readonly email: string | null
  }[]
  readonly removed: { readonly seq: number; readonly time: number } | null
}

/** The reason and start of a stop. A removal is final. */
export interface StopState {
  readonly agentId: string
  readonly cause: 'suspended' | 'removed'
  readonly seq: number
  readonly time: number
}

function keepAgent(state: FactState, entry: FactEntry): void {
  const object = recordIn(entry.data, 'agent')
  const id = object && textIn(object, 'agent_id')
  if (!object || id === null) return
  const before = state.agents.get(id)
  const owners = recordsIn(object, 'owners').map((one) => ({
    type: textIn(one, 'type'),
    id: textIn(one, 'id'),
    email: textIn(one, 'email'),
  }))
  state.agents.set(id, { ...recordedObject(id, object, entry, before), owners, removed: null })
  // An agent that was stopped before its registration stays stopped.
  if (textIn(object, 'status') === 'suspended') stop(state, entry, id, 'suspended')
  else lift(state, id)
}

const idOf = ({ agent_id, data }: FactEntry): string | null => agent_id ?? textIn(data, 'agent_id')

function stop(
  state: FactState,
  { seq, time }: FactEntry,
  agentId: string,
  cause: StopState['cause'],
) {
  const before = state.stops.get(agentId)
  if (before?.cause === cause) return
  state.stops.set(agentId, { agentId, cause, seq, time })
}

function lift(state: FactState, agentId: string): void {
  if (state.stops.get(agentId)?.cause === 'suspended') state.stops.delete(agentId)
}

export const agentReducers: Reducers = {
  'agent.registered': keepAgent,
  'agent.updated': keepAgent,
  'agent.suspended': (state, entry) => {
    keepAgent(state, entry)
    const id = idOf(entry)
    if (id !== null) stop(state, entry, id, 'suspended')
  },
  'agent.resumed': (state, entry) => {
    keepAgent(state, entry)
    const id = idOf(entry)
    if (id !== null) lift(state, id)
  },
  'agent.removed': (state, entry) => {
    const id = idOf(entry)
    if (id === null) return
    const { seq, time, data } = entry
    const agent = state.agents.get(id)
    if (agent) state.agents.set(id, { ...agent, removed: { seq, time } })
    stop(state, entry, id, 'removed')
    endCredentials(state, entry, textsIn(data, 'revoked_credentials'))
  },
  'agent_mode.set': (state, entry) => {
    const id = idOf(entry)
    const mode = textIn(entry.data, 'mode')
    if (id !== null && mode !== null) state.modes.set(id, mode)
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
export function endCredentials(state: FactState, _by: FactEntry, ids: readonly string[]): void {
  for (const id of ids) state.credentials.delete(id)
}

function keepCredential(state: FactState, entry: FactEntry): void {
  const object = recordIn(entry.data, 'credential')
  const id = object && textIn(object, 'id')
  if (!object || id === null) return
  state.sweepCredentials(entry.time)
  state.credentials.set(id, {
    ...recordedObject(id, object, entry, undefined),
    agentId: textIn(object, 'agent_id') ?? entry.agent_id ?? '',
    scopes: textsIn(object, 'scopes'),
    expiresAt: timeIn(object, 'expires_at'),
    idpId: textIn(object, 'idp_id'),
  })
}

export const credentialReducers: Reducers = {
  'credential.issued': keepCredential,
  'credential.rotated': (state, entry) => {
    keepCredential(state, entry)
    const from = recordIn(entry.data, 'rotated_from')
    const old = state.credentials.get((from && textIn(from, 'id')) ?? '')
    if (from && old)
      state.credentials.set(old.id, { ...old, expiresAt: timeIn(from, 'expires_at') })
  },
  'credential.revoked': (state, entry) => {
    const object = recordIn(entry.data, 'credential')
    const id = object && textIn(object, 'id')
    endCredentials(state, entry, id === null ? [] : [id])
    endCredentials(state, entry, textsIn(entry.data, 'credential_ids'))
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
  'permission.granted': (state, entry) => {
    const object = recordIn(entry.data, 'permission')
    const id = object && textIn(object, 'id')
    if (!object || id === null) return
    const permission: PermissionState = {
      ...recordedObject(id, object, entry, state.permissions.get(id)),
      effect: textIn(object, 'effect') ?? 'allow',
      agentId: textIn(object, 'agent_id') ?? entry.agent_id ?? '',
      actions: textsIn(object, 'actions'),
      resources: textsIn(object, 'resources'),
      isConditional: textIn(object, 'condition') !== null,
      notBefore: timeIn(object, 'not_before'),
      expiresAt: timeIn(object, 'expires_at'),
    }
    state.permissions.set(id, permission)
    dropDeny(state, id)
    if (permission.effect === 'deny') {
      state.denies.set(id, permission)
      state.deniesVersion += 1
    }
  },
  'permission.revoked': (state, { data }) => {
    for (const id of textsIn(data, 'revoked')) {
      state.permissions.delete(id)
      dropDeny(state, id)
    }
  },
}

function dropDeny(state: FactState, id: string): void {
  if (state.denies.delete(id)) state.deniesVersion += 1
}
