/** Why there is no answer; stable, for programs. Nothing that the other side sent is in it. */
export type OutboundCode =
  | 'target_refused'
  | 'name_not_found'
  | 'address_refused'
  | 'connection_timeout'
  | 'connection_failed'
  | 'tls_failed'
  | 'timeout'
  | 'redirected'
  | 'content_encoded'
  | 'response_too_large'
  | 'response_broken'
  | 'aborted'

export class OutboundError extends Error {
  readonly code: OutboundCode
  constructor(code: OutboundCode, message: string) {
    super(message)
    this.name = 'OutboundError'
    this.code = code
  }
}

/** Aborts a request before its answer is complete: by two deadlines or by its sender. */
export class OutboundDeadlines implements Disposable {
  readonly #controller = new AbortController()
  readonly #connecting: NodeJS.Timeout
  readonly #total: NodeJS.Timeout
  readonly #sender: AbortSignal | undefined
  readonly #onAbort = () => this.#end('aborted', 'the request was aborted')

  constructor(limits: { connectMs: number; totalMs: number }, sender: AbortSignal | undefined) {
    this.#connecting = setTimeout(
      () => this.#end('connection_timeout', `no connection within ${limits.connectMs} ms`),
      limits.connectMs,
    )
    this.#total = setTimeout(
      () => this.#end('timeout', `no complete response within ${limits.totalMs} ms`),
      limits.totalMs,
    )
    this.#sender = sender
    if (sender?.aborted) this.#onAbort()
    sender?.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** Aborts with an `OutboundError` as its reason. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Only the deadline for the whole stays. */
  connected(): void {
    clearTimeout(this.#connecting)
  }

  /** The result of work that does not listen to the signal; rejects as soon as it aborts. */
  race<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const give = () => reject(this.signal.reason as OutboundError)
      if (this.signal.aborted) give()
      this.signal.addEventListener('abort', give, { once: true })
      work.then(resolve, reject)
    })
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#connecting)
    clearTimeout(this.#total)
    this.#sender?.removeEventListener('abort', this.#onAbort)
  }

  #end(code: OutboundCode, message: string): void {
    this.#controller.abort(new OutboundError(code, message))
  }
}
