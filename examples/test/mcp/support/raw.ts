import { spawn } from 'node:child_process'
import { programEnv } from '@remit/testing/pure'
import type { RemitServer } from '../../support/server.ts'
import { gatewayArguments } from './gateway.ts'

/** A program on stdio as bytes: what a test writes is what it reads. */
export class RawProgram {
  readonly #child
  readonly #lines: AsyncIterator<string>

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(process.execPath, [...args], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: programEnv(env),
    })
    this.#lines = linesOf(this.#child.stdout.setEncoding('utf8'))
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  write(line: string): void {
    this.#child.stdin.write(`${line}\n`)
  }

  /** The next line; undefined after the end. */
  async line(): Promise<string | undefined> {
    const { value, done } = await this.#lines.next()
    return done === true ? undefined : value
  }

  async message(): Promise<Record<string, unknown>> {
    return JSON.parse((await this.line()) ?? 'null') as Record<string, unknown>
  }

  async ask(id: number | string, method: string, params: object = {}) {
    this.write(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return this.message()
  }

  /** The handshake of 2025-11-25. */
  async open(capabilities: object = {}): Promise<void> {
    await this.ask('init', 'initialize', {
      protocolVersion: '2025-11-25',
      capabilities,
      clientInfo: { name: 'raw', version: '1' },
    })
    this.write('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  async close(): Promise<number | null> {
    const ended = new Promise<number | null>((resolve) => this.#child.once('close', resolve))
    this.#child.stdin.end()
    return this.#child.exitCode ?? ended
  }
}

/** The gateway as bytes. */
export class RawGateway extends RawProgram {
  constructor(
    { url, org }: Pick<RemitServer, 'url' | 'org'>,
    server: readonly string[],
    { flags, env = {} }: { flags?: readonly string[]; env?: Record<string, string> } = {},
  ) {
    super(gatewayArguments(server, flags), { REMIT_URL: url, REMIT_KEY: org.key, ...env })
  }
}

/** Unlike those of `readline`, its lines end at LF alone: JSON may have other line ends. */
export async function* linesOf(stream: AsyncIterable<string>): AsyncGenerator<string> {
  // A line of megabytes comes in hundreds of parts: each is searched once.
  let rest: string[] = []
  for await (const part of stream) {
    const [first = '', ...others] = part.split('\n')
    rest.push(first)
    for (const line of others) {
      yield rest.join('')
      rest = [line]
    }
  }
}
