/** An answer as it is kept for, and given to, a repeat of its request. */
export interface StoredAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A request's hold on its `Idempotency-Key`. */
export interface Claim {
  /** The principal, a line feed and the `Idempotency-Key`. Neither part contains a line feed. */
  readonly key: string
  /** Hex SHA-256 over method, path and body: two requests with the same hash are the same. */
  readonly requestHash: string
  /** Renders a handler's reply as it is to be kept; a secret is left out. */
  encode(reply: unknown): StoredAnswer
}

/** Thrown where work turns out to be done already: the answer to give instead. */
export class Replay extends Error {
  readonly answer: StoredAnswer
  constructor(answer: StoredAnswer) {
    super('answered before')
    this.answer = answer
  }
}
