import type { Readable, Writable } from 'node:stream'

const NEWLINE = 0x0a

/** A line that is longer than the limit. */
export class LineTooLong extends Error {}

/** The lines of a stream as bytes, without their line ends; empty lines are left out. */
export async function* linesOf(stream: Readable, maxBytes: number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let rest = chunk
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      parts.push(rest.subarray(0, end))
      const line = trimmed(Buffer.concat(parts))
      parts = []
      length = 0
      rest = rest.subarray(end + 1)
      if (line.length > 0) yield line
    }
    length += rest.length
    if (length > maxBytes) throw new LineTooLong(`A line has more than ${maxBytes} bytes.`)
    if (rest.length > 0) parts.push(rest)
  }
  const last = trimmed(Buffer.concat(parts))
  if (last.length > 0) yield last
}

const trimmed = (line: Buffer): Buffer =>
  line.at(-1) === 0x0d ? line.subarray(0, line.length - 1) : line

/** Writes a message as one line; resolves when the stream can take more. */
export function writeLine(stream: Writable, message: Buffer | string): Promise<void> {
  if (stream.destroyed || !stream.writable) return Promise.resolve()
  const text = typeof message === 'string' ? Buffer.from(message) : message
  const isFull = !stream.write(Buffer.concat([onOneLine(text), Buffer.of(NEWLINE)]))
  if (!isFull) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      stream.off('drain', done)
      stream.off('close', done)
      resolve()
    }
    stream.on('drain', done)
    stream.on('close', done)
  })
}

/** In JSON, an unescaped line end can only be white space between values. */
function onOneLine(bytes: Buffer): Buffer {
  if (!bytes.includes(NEWLINE) && !bytes.includes(0x0d)) return bytes
  return Buffer.from(bytes.map((byte) => (byte === NEWLINE || byte === 0x0d ? 0x20 : byte)))
}
