import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKey } from '@remit/core/keys'
import { bundledProgram, programEnv, SOURCE_FLAGS } from '@remit/testing/pure'

/** A server in a process of its own, on a port and a database that stay. */
export interface ServerProcess {
  readonly url: string
  readonly key: string
  /** Resolves when it listens. */
  start(): Promise<void>
  /** SIGKILL: nothing is finished, nothing is flushed. */
  kill(): Promise<void>
  remove(): Promise<void>
}

export async function createServerProcess(): Promise<ServerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'remit-killed-'))
  const port = await freePort()
  const key = generateKey().secret
  const env = programEnv({
    REMIT_DATABASE_URL: `sqlite:${join(folder, 'remit.db')}`,
    REMIT_LEDGER_KEY_FILE: join(folder, 'ledger-key.pem'),
    REMIT_EVALUATION: '1',
    REMIT_BOOTSTRAP_ORG: 'demo',
    REMIT_BOOTSTRAP_KEY: key,
    REMIT_RATE_LIMIT: '0',
    REMIT_LOG_LEVEL: 'silent',
    REMIT_PORT: String(port),
  })
  let child: ChildProcess | null = null
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'close')
    child.kill('SIGKILL')
    await ended
  }
  return {
    url: `http://127.0.0.1:${port}`,
    key,
    async start() {
      const started = spawn(process.execPath, [...SOURCE_FLAGS, bundledProgram('main')], {
        env,
        cwd: folder,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      child = started
      let said = ''
      const ended = once(started, 'close').then(() => Promise.reject(new Error(`ended: ${said}`)))
      ended.catch(() => undefined)
      while (!said.includes('Remit listens on')) {
        const [chunk] = (await Promise.race([once(started.stdout, 'data'), ended])) as [Buffer]
        said += chunk.toString()
      }
      started.stdout.resume()
    },
    kill,
    async remove() {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The next server on it is the same one for its clients. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
