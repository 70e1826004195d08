/** A response with more bytes than the limit. */
export class AnswerTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`the response exceeds ${maxBytes} bytes`)
    this.name = 'AnswerTooLarge'
  }
}

/**
 * Returns the text of a response of at most `maxBytes`, counted after decompression. Throws
 * `AnswerTooLarge` at the first excess byte and closes the connection: `Response.text()` would
 * buffer all of it.
 */
export async function boundedText(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    // Leaving the loop cancels the rest.
    if (size > maxBytes) throw new AnswerTooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
