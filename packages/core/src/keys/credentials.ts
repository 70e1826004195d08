import type { Plan, Scope } from '@remit/contract'
import type { AnyDatabase } from '../db/portable.ts'

/** The credentials of agents. */
export interface Credentials {
  /** Who holds the credential with this text, which is well-formed; null for every other one, without a cause. */
  authenticate(text: string): Promise<CredentialHolder | null>
  /** The holders of those that are live at a time (milliseconds), as the transaction sees them. */
  find(tx: AnyDatabase, ids: readonly string[], now: number): Promise<CredentialHolder[]>
  /** Takes note of a use that needed no look-up. */
  used(id: string): void
}

/** A live credential of an active agent, with what a caller needs to know of its organization. */
export interface CredentialHolder {
  readonly id: string
  readonly orgId: string
  readonly agentId: string
  /** What it may do now, in the order of the alphabet. */
  readonly scopes: readonly Scope[]
  /** Milliseconds. */
  readonly expiresAt: number
  readonly plan: Plan
  readonly configVersion: number
}
