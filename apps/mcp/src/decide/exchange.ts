/** One request of a client on its way: how it reaches the upstream, and what happens meanwhile. */
export interface Exchange {
  /** Aborted when the client cancels the request, which ends a call that has begun. */
  readonly signal: AbortSignal
  /** Aborted when nobody can receive the response any more. A call that has begun goes on. */
  readonly gone: AbortSignal
  /**
   * Sends a request to the upstream, and resolves with the bytes of its response. It ends with `signal`: that of
   * the exchange unless a call goes on after it.
   */
  readonly call: (bytes: Buffer, signal?: AbortSignal) => Promise<Buffer>
  /** Sends a notification to the client, such as the progress of an approval. */
  readonly notify: (text: string) => void
}
