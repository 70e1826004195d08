/** One event of a stream, as the HTML standard defines server-sent events. */
export interface ServerEvent {
  /** `message` unless the server names it. */
  readonly event: string
  readonly data: string
  /** Of this or an earlier event; sent as `Last-Event-ID`, a new stream goes on after it. */
  readonly id: string
}

const END_OF_LINE = /\r\n|\n|\r(?!$)/

/**
 * Reads events until the server ends the stream. Leaving the loop ends the connection, and so does
 * `signal`: the loop then throws its reason.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<ServerEvent> {
  const reader = body.getReader()
  const cancel = () => void reader.cancel().catch(() => undefined)
  signal?.addEventListener('abort', cancel, { once: true })
  const decoder = new TextDecoder()
  let rest = ''
  let id = ''
  let event = ''
  let data: string[] = []
  try {
    for (;;) {
      const { done, value } = await reader.read()
      signal?.throwIfAborted()
      if (done) return
      const lines = (rest + decoder.decode(value, { stream: true })).split(END_OF_LINE)
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line === '') {
          if (data.length > 0) yield { event: event || 'message', data: data.join('\n'), id }
          ;[event, data] = ['', []]
          continue
        }
        const [, field, content = ''] = /^([^:]*)(?::\x20?([^]*))?$/.exec(line) ?? []
        if (field === 'data') data.push(content)
        else if (field === 'event') event = content
        else if (field === 'id' && !content.includes('\0')) id = content
      }
    }
  } finally {
    signal?.removeEventListener('abort', cancel)
    cancel()
  }
}
