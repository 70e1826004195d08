/** The caller of the gateway: an agent, and how Remit knows it. */
export interface Caller {
  /** The same for all credentials of the agent, and of the person for whom it acts. */
  readonly id: string
  readonly agentId: string
  /** With which the gateway asks Remit about calls of this caller. */
  readonly key: string
  /** The subject of an OAuth token. */
  readonly actingFor: string | undefined
}

/** A request whose credential is missing or refused. */
export class Unauthorized extends Error {
  /** The error code of RFC 6750, absent where no credential was sent. */
  readonly code: 'invalid_token' | 'insufficient_scope' | undefined
  readonly scope: string | undefined
  constructor(message: string, code?: Unauthorized['code'], scope?: string) {
    super(message)
    this.code = code
    this.scope = scope
  }
}

/** Remit cannot say who the caller is. */
export class Unavailable extends Error {}

/** A credential that was refused after too many others. */
export class Busy extends Error {}

export const callerOf = (agentId: string, key: string, actingFor?: string): Caller => ({
  id: JSON.stringify([agentId, actingFor ?? null]),
  agentId,
  key,
  actingFor,
})
