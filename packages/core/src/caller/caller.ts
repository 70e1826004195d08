import type { Plan, Role, Scope } from '@remit/contract'

/** The authenticated key or credential and its organization. */
export interface Caller {
  readonly orgId: string
  /** The lower of the license's plan and the organization's. */
  readonly plan: Plan
  readonly principal: Principal
  /** Version of the configuration at which the caller was read. */
  readonly configVersion: number
}

/** The authenticated identity: the organization itself, or one of its agents. */
export type Principal = KeyPrincipal | CredentialPrincipal

/** An ingest key. */
export interface KeyPrincipal {
  readonly type: 'key'
  readonly id: string
  readonly role: Role
  /** E-mail of the person the key names. */
  readonly person: string | null
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
