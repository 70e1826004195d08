import type { Plan, Role, Scope } from '@remit/contract'

/** The authenticated key or credential and the organization it speaks for. */
export interface Caller {
  readonly orgId: string
  /** The lower of the licence's plan and the organization's. */
  readonly plan: Plan
  readonly principal: Principal
  /** State of the organization's configuration at which all this was read. */
  readonly configVersion: number
}

/** Who calls: the organization itself, or one of its agents. */
export type Principal = KeyPrincipal | CredentialPrincipal

/** An ingest key. */
export interface KeyPrincipal {
  readonly type: 'key'
  readonly id: string
  readonly role: Role
  /** E-mail of the person the key names. */
  readonly person: string | null
}

/** An agent's credential: it acts as that agent alone, and only for what it is for. */
export interface CredentialPrincipal {
  readonly type: 'credential'
  readonly id: string
  readonly agentId: string
  /** In the order of the alphabet. */
  readonly scopes: readonly Scope[]
  /** Milliseconds; at that time it has ended. */
  readonly expiresAt: number
  readonly person: null
}
