import type { Actor, Plan, Role, Scope } from '@remit/contract'
import { fail, invalid } from '../base/errors.ts'

/** The authenticated key or credential and its organization. */
export interface Caller {
  readonly orgId: string
  /** The lower of the license's plan and the organization's. */
  readonly plan: Plan
  readonly principal: Principal
  /** Version of the configuration at which the caller was read; null without a ledger head. */
  readonly configVersion: number | null
}

/** The authenticated identity: the organization itself, one of its agents, or a person. */
export type Principal = KeyPrincipal | CredentialPrincipal | PersonPrincipal

export interface KeyPrincipal {
  readonly type: 'key'
  readonly id: string
  readonly role: Role
  /** E-mail of the person the key names. */
  readonly person: string | null
  /** The session that acts with the key; see `PersonPrincipal`. */
  readonly session?: string
}

/** A person who has signed in. */
export interface PersonPrincipal {
  readonly type: 'person'
  readonly id: string
  readonly role: Exclude<Role, 'ingest'>
  /** Verified e-mail address. */
  readonly person: string
  readonly name: string | null
  /** Hash of the session's cookie; it identifies the session. */
  readonly session: string
}

/** A credential of an agent: it acts only as that agent and within its scopes. */
export interface CredentialPrincipal {
  readonly type: 'credential'
  readonly id: string
  readonly agentId: string
  /** In alphabetical order. */
  readonly scopes: readonly Scope[]
  /** Expiry in milliseconds. */
  readonly expiresAt: number
  readonly person: null
}

/** Returns the session of a principal; undefined for a key or credential in a header. */
export const sessionOf = (principal: Principal): string | undefined =>
  principal.type === 'credential' ? undefined : principal.session

/** Identifies a caller for a second look at its rights: several sessions can have one principal. */
export const callerId = (principal: Principal): string => sessionOf(principal) ?? principal.id

/** The server itself: its boot, its command line, its background work. */
export const SYSTEM = { type: 'system', id: 'remit' } as const

/** Returns the actor of an entry: the key or credential, or the system for operators. */
export const actorOf = (caller: Caller | null): Actor =>
  caller ? { type: caller.principal.type, id: caller.principal.id } : SYSTEM

/** Returns the person of the key, for the data of an entry. */
export const personOf = (caller: Caller | null): { person?: string } =>
  caller?.principal.person ? { person: caller.principal.person } : {}

/** Returns true if the key still has the rights that it had when the request was admitted. */
export const isSameRight = (before: Caller, now: Caller | null | undefined): boolean =>
  now != null &&
  (now === before || (now.plan === before.plan && isSameReach(before.principal, now.principal)))

const isSameReach = (before: Principal, now: Principal): boolean =>
  before.type === 'credential'
    ? now.type === 'credential' && now.scopes.join() === before.scopes.join()
    : now.type === before.type && now.role === before.role

/** Returns the agent that a caller acts as; null for keys, which may act for any agent. */
export const ownAgent = (caller: Caller | null): string | null =>
  caller?.principal.type === 'credential' ? caller.principal.agentId : null

/** Returns true if the caller may see data of an agent; to other callers it does not exist. */
export const isOwn = (caller: Caller | null, agentId: string | null): boolean =>
  (ownAgent(caller) ?? agentId) === agentId

/** Throws if a credential names an agent other than its own. */
export function actAs(caller: Caller | null, agentId: string | undefined): void {
  const own = ownAgent(caller)
  if (own !== null && agentId !== undefined && agentId !== own)
    throw fail('agent_mismatch', `This credential is ${own}'s`, { asked: agentId })
}

/** Returns the request with its agent: a credential's own agent by default. Throws like `actAs`. */
export function withAgent<T extends { readonly agent_id?: string | undefined }>(
  caller: Caller,
  request: T,
): T & { readonly agent_id: string } {
  actAs(caller, request.agent_id)
  // Most requests name the agent and are not copied.
  if (request.agent_id !== undefined) return request as T & { readonly agent_id: string }
  const own = ownAgent(caller)
  if (own === null) throw invalid('agent_id', 'is required with an ingest key')
  return { ...request, agent_id: own }
}

/** Rejects every agent credential, regardless of its scopes. */
export function refuseAgents(caller: Caller | null): void {
  if (ownAgent(caller) !== null) throw fail('principal_not_allowed')
}

/** Attempts of agents to act as others. */
export interface Impersonations {
  /** Records that a credential named another agent; durable when the promise resolves. */
  refused(caller: Caller, asked: string, requestId: string): Promise<void>
}
