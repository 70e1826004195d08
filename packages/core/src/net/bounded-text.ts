/** An answer with more bytes than its reader takes. */
export class AnswerTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`the answer has more than ${maxBytes} bytes`)
    this.name = 'AnswerTooLarge'
  }
}

/**
 * The text of an answer of at most `maxBytes`, counted after decompression. Throws `AnswerTooLarge` at
 * the first byte beyond, and ends the connection: `Response.text()` would read on and keep it all.
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
