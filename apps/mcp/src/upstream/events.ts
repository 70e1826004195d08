import { StringDecoder } from 'node:string_decoder'
import { createParser } from 'eventsource-parser'
import type { ParseError } from 'eventsource-parser'

/** An event of a stream; `retry` asks for milliseconds before a new connection. */
export interface StreamEvent {
  readonly id: string | undefined
  readonly data: string
}

export interface StreamReader {
  readonly event: (event: StreamEvent) => void
  readonly retry: (ms: number) => void
}

/** Reads server-sent events until the stream ends. Rejects where an event has more than `maxBytes`. */
export async function readEventStream(
  stream: AsyncIterable<Buffer>,
  maxBytes: number,
  { event, retry }: StreamReader,
): Promise<void> {
  let failure: ParseError | null = null
  const parser = createParser({
    maxBufferSize: maxBytes,
    onEvent: ({ id, data }) => event({ id, data }),
    onRetry: retry,
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') failure = error
    },
  })
  const decoder = new StringDecoder('utf8')
  for await (const part of stream) {
    parser.feed(decoder.write(part))
    if (failure) throw failure as ParseError
  }
}
