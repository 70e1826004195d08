import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { freePort } from '@remit/testing'
import { vi } from 'vitest'

/** `node scripts/peers.ts install vault` builds it. */
const PROGRAM = resolve(import.meta.dirname, '../../../../node_modules/.cache/peers/vault/vault')

/** Returns true if Vault is there; otherwise says that its tests are skipped. */
export function hasVault(): boolean {
  const isThere = existsSync(PROGRAM)
  if (!isThere) process.stderr.write('skipped: Vault is not installed\n')
  return isThere
}

type Answer = Readonly<Record<string, unknown>>

/** A Vault of one node with its data on disk, on HTTP. */
export class Vault {
  readonly url: string
  readonly #config: string
  #child: ChildProcess | null = null
  #log = ''
  #unsealKey = ''
  /** The root token. */
  root = ''

  /** Initializes and starts it, with its data below `home`, and the transit engine at `transit`. */
  static async start(home: string): Promise<Vault> {
    const vault = new Vault(home, await freePort(), await freePort())
    await vault.run()
    const request = { secret_shares: 1, secret_threshold: 1 }
    const { keys, root_token: token } = await vault.call('POST', 'sys/init', request)
    ;[vault.#unsealKey = ''] = keys as string[]
    vault.root = String(token)
    await vault.unseal()
    await vault.call('POST', 'sys/mounts/transit', { type: 'transit' })
    return vault
  }

  private constructor(home: string, port: number, peerPort: number) {
    this.url = `http://127.0.0.1:${port}`
    this.#config = join(home, 'vault.json')
    const path = join(home, 'vault')
    mkdirSync(path)
    const config = {
      storage: { raft: { path, node_id: 'one' } },
      listener: { tcp: { address: `127.0.0.1:${port}`, tls_disable: true } },
      api_addr: this.url,
      cluster_addr: `https://127.0.0.1:${peerPort}`,
      disable_mlock: true,
    }
    writeFileSync(this.#config, JSON.stringify(config))
  }

  /** Starts the process; with data, it is sealed. */
  async run(): Promise<void> {
    const child = spawn(PROGRAM, ['server', `-config=${this.#config}`], {
      env: { HOME: join(this.#config, '..'), PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    this.#log = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (this.#log += chunk.toString()))
    while (!this.#log.includes('Vault server started')) {
      if (child.exitCode !== null) throw new Error(`Vault ended: ${this.#log}`)
      await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
    }
  }

  /** A call of its API as root. Throws unless the status is 2xx. */
  async call(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
    const response = await fetch(`${this.url}/v1/${path}`, {
      method,
      headers: { 'x-vault-token': this.root },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
    return text === '' ? {} : (JSON.parse(text) as Answer)
  }

  /** Creates a token with the policy `remit`. */
  async token(options: object = {}): Promise<string> {
    const { auth } = await this.call('POST', 'auth/token/create', {
      policies: ['remit'],
      ...options,
    })
    return (auth as { client_token: string }).client_token
  }

  /** Returns the newest public key of a key, in base64. */
  async publicKey(name: string): Promise<string | undefined> {
    const { data } = await this.call('GET', `transit/keys/${name}`)
    const { keys, latest_version: newest } = data as {
      keys: Record<string, { public_key: string }>
      latest_version: number
    }
    return keys[newest]?.public_key
  }

  async seal(): Promise<void> {
    await this.call('POST', 'sys/seal')
  }

  /** Unseals it and waits until it answers. */
  async unseal(): Promise<void> {
    await this.call('POST', 'sys/unseal', { key: this.#unsealKey })
    const isActive = async () => (await fetch(`${this.url}/v1/sys/health`)).status === 200
    await vi.waitUntil(isActive, { timeout: 60_000, interval: 50 })
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'close')
    child.kill('SIGKILL')
    await ended
  }
}
