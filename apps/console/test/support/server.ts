import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createClient } from '@remit/contract'
import type { Client } from '@remit/contract'
import { createDatabase, programEnv, scratchFolder, SOURCE_FLAGS } from '@remit/core/testing'
import { buildConsole } from './build.ts'

const MAIN = resolve(import.meta.dirname, '../../../server/src/main.ts')
const READY_MS = 120_000

/** A real server in a process of its own, with the console as built from these sources. */
export interface Server {
  readonly url: string
  /** The first admin key. */
  readonly key: string
  readonly api: Client
  stop(): Promise<void>
}

export async function startServer(): Promise<Server> {
  await buildConsole()
  const folder = scratchFolder('console')
  const database = await createDatabase('sqlite')
  const child = spawn(process.execPath, [...SOURCE_FLAGS, MAIN], {
    env: programEnv({
      REMIT_DATABASE_URL: database.url,
      REMIT_LEDGER_KEY_FILE: join(folder, 'ledger-key.pem'),
      REMIT_SECRETS_KEY_FILE: join(folder, 'secrets-key'),
      REMIT_EVALUATION: '1',
      REMIT_BOOTSTRAP_ORG: 'demo',
      REMIT_PORT: '0',
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stop = async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'close')
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const { url, key } = await readBanner(child)
    return { url, key, api: createClient({ baseUrl: url, key }), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The address and the first key, as they are printed for a person. */
async function readBanner(child: ChildProcess): Promise<{ url: string; key: string }> {
  const late = AbortSignal.timeout(READY_MS)
  let said = ''
  child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  for (;;) {
    const url = /Remit listens on (http:\/\/\S+)/.exec(said)?.[1]
    const key = /\brmk_[A-Za-z0-9]{40,}/.exec(said)?.[0]
    if (url !== undefined && key !== undefined) return { url, key }
    if (child.exitCode !== null) throw new Error(`the server ended: ${said}`)
    await once(child.stdout ?? child, 'data', { signal: late })
  }
}
