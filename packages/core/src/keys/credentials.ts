import type { Plan, Scope } from '@remit/contract'
import type { AnyDatabase } from '../db/portable.ts'

export interface Credentials {
  /**
   * Returns the holder of a well-formed credential text; null without a cause for any other one.
   */
  authenticate(text: string): Promise<CredentialHolder | null>
  /**
   * Returns the holders of the credentials of an organization that are valid at a time
   * (milliseconds), in the transaction.
   */
  find(
    tx: AnyDatabase,
    orgId: string,
    ids: readonly string[],
    now: number,
  ): Promise<CredentialHolder[]>
  /** Records a use of a cached credential. */
  used(credential: Pick<CredentialHolder, 'id' | 'orgId'>): void
}

/** A valid credential of an active agent, with the organization data of a caller. */
export interface CredentialHolder {
  readonly id: string
  readonly orgId: string
  readonly agentId: string
  /** Current scopes, in alphabetical order. */
  readonly scopes: readonly Scope[]
  /** Expiry in milliseconds. */
  readonly expiresAt: number
  readonly plan: Plan
  readonly configVersion: number | null
}
