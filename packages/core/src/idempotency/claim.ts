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
