/** Milliseconds after which an unread export ends. */
const UNREAD_MS = 120_000

/**
 * Streams a text as a response body, produced on demand. `ended` is called once: at the end, on
 * failure, on cancellation, or after two minutes without a read.
 */
export function textStream(
  text: AsyncGenerator<string>,
  ended: () => void,
  unreadMs = UNREAD_MS,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const end = () => {
    clearTimeout(timer)
    ended()
  }
  let timer: NodeJS.Timeout
  const expectReader = (controller: ReadableStreamDefaultController) => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      controller.error(new Error(`The client did not read the export for ${unreadMs} ms`))
      end()
      void text.return(undefined)
    }, unreadMs).unref()
  }
  return new ReadableStream(
    {
      start: expectReader,
      async pull(controller) {
        try {
          const next = await text.next()
          if (next.done) {
            controller.close()
            end()
          } else {
            controller.enqueue(encoder.encode(next.value))
            expectReader(controller)
          }
        } catch (error) {
          end()
          throw error
        }
      },
      async cancel() {
        end()
        await text.return(undefined)
      },
    },
    { highWaterMark: 1 },
  )
}
