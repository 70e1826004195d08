import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'

/** A server that the gateway starts. */
interface Command {
  readonly command: string
  readonly args: readonly string[]
  /** In addition to the variables that every program needs. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** Variables without which programs do not start; nothing of them is secret. */
const PASSED = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'SYSTEMROOT', 'APPDATA', 'USERPROFILE', 'PATHEXT']
const KILL_MS = 2_000

export interface Child {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly process: ChildProcess
  /** Resolves with a text once the server has ended. */
  readonly ended: Promise<string>
  /** Closes its input, and ends it if that does not. */
  readonly stop: () => Promise<void>
}

/** Starts a server with the environment that its command names, and nothing else of the gateway's. */
export function startChild(
  { command, args, env = {}, cwd }: Command,
  outer: Readonly<Record<string, string | undefined>>,
): Child {
  const passed: Record<string, string> = {}
  for (const name of PASSED) {
    const value = outer[name]
    if (value !== undefined) passed[name] = value
  }
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...passed, ...env },
    ...(cwd !== undefined && { cwd }),
  })
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`${command} did not start: ${error.message}`))
    child.once('close', (code, signal) => resolve(`${command} ended (${signal ?? code})`))
  })
  // A server that ends while it is written to is reported by `ended`.
  child.stdin.on('error', () => undefined)
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    process: child,
    ended,
    async stop() {
      child.stdin.end()
      const terminate = setTimeout(() => child.kill('SIGTERM'), KILL_MS)
      const kill = setTimeout(() => child.kill('SIGKILL'), 2 * KILL_MS)
      await ended
      clearTimeout(terminate)
      clearTimeout(kill)
    },
  }
}

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
