import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { RemitServer } from '../../support/server.ts'
import { gatewayArguments } from './gateway.ts'

/** The gateway as bytes: what a test writes is what the gateway reads. */
export class RawGateway {
  readonly #child
  readonly #lines: AsyncIterator<string>

  constructor(
    { url, org }: Pick<RemitServer, 'url' | 'org'>,
    server: readonly string[],
    { flags, env = {} }: { flags?: readonly string[]; env?: Record<string, string> } = {},
  ) {
    this.#child = spawn(process.execPath, gatewayArguments(server, flags), {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'] ?? '', REMIT_URL: url, REMIT_API_KEY: org.key, ...env },
    })
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
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
