import type { Caller, Principal } from '../caller/caller.ts'

/** The stored response for repeats of a request. */
export interface StoredAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A request's hold on its `Idempotency-Key`. */
export interface IdempotencyClaim {
  /** The principal, a line feed and the `Idempotency-Key`. Neither part contains a line feed. */
  readonly key: string
  /** Hex SHA-256 over method, path and body: two requests with the same hash are the same. */
  readonly requestHash: string
  /** Encodes the reply of a handler for storage; a secret is omitted. */
  encode(reply: unknown): StoredAnswer
}

/** Thrown if the work is already done: carries the stored response. */
export class AlreadyAnswered extends Error {
  readonly answer: StoredAnswer
  constructor(answer: StoredAnswer) {
    super('the request has a stored response')
    this.answer = answer
  }
}

/** Credentials are rotated, so a repeat may use another credential of the same agent. */
export const principalName = (principal: Principal): string =>
  principal.type === 'credential'
    ? `agent:${principal.agentId}`
    : `${principal.type}:${principal.id}`

/**
 * The claim of work that the caller identifies otherwise than by an `Idempotency-Key`, such as by the id
 * of a tool call. The line feed in its key sets it apart from every `Idempotency-Key`.
 */
export const derivedClaim = (
  { principal }: Caller,
  kind: string,
  id: string,
): IdempotencyClaim => ({
  key: `${principalName(principal)}\n${kind}\n${id}`,
  // The id is all that identifies the work.
  requestHash: '',
  encode: (reply) => ({ status: 200, headers: {}, body: JSON.stringify(reply) }),
})
