import type { Actor, Plan, Role, Scope } from '@remit/contract'

/** The authenticated key or credential and its organization. */
export interface Caller {
  readonly orgId: string
  /** The lower of the license's plan and the organization's. */
  readonly plan: Plan
  readonly principal: Principal
  /** Version of the configuration at which the caller was read. */
  readonly configVersion: number
}

/** The authenticated identity: the organization itself, one of its agents, or a person. */
export type Principal = KeyPrincipal | CredentialPrincipal | PersonPrincipal

/** An ingest key. */
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
