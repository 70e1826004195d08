/** A successful response that is more than a body: another status, headers or a stream. */
export class Reply<Body> {
  readonly body: Body | ReadableStream<Uint8Array>
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  constructor(
    body: Body | ReadableStream<Uint8Array>,
    options: { status?: number; headers?: Record<string, string> } = {},
  ) {
    this.body = body
    this.status = options.status
    this.headers = options.headers ?? {}
  }
}
