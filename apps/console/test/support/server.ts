import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createClient } from '@remit/contract'
import type { Client } from '@remit/contract'
import {
  bundledProgram,
  createDatabase,
  programEnv,
  scratchFolder,
  SOURCE_FLAGS,
} from '@remit/testing'
import { buildConsole } from './build.ts'

type Env = Readonly<Record<string, string>>

/** The bundle of a test run loads in a fourth of the time of the sources. */
const CLI = process.env['REMIT_TEST_PROGRAMS']
  ? bundledProgram('cli')
  : resolve(import.meta.dirname, '../../../server/src/cli.ts')
const READY_MS = 120_000

/** A real server in a process of its own, with the console as built from these sources. */
export interface Server {
  readonly url: string
  /** The first admin key. */
  readonly key: string
  readonly api: Client
  /** Returns a new key that the operator of the server creates. */
  operatorKey(role: 'admin' | 'approver'): string
  stop(): Promise<void>
}

/** The database and the keys that the processes of one installation share. */
export interface Installation {
  readonly databaseUrl: string
  /** The file of the ledger's key; the first process creates it. */
  readonly ledgerKeyFile: string
  /** Starts one more process. `key`: an admin key, where this start creates none. */
  start(env?: Env, key?: string): Promise<Server>
  /** Ends all processes and deletes everything. */
  remove(): Promise<void>
}

/** An installation for evaluation, unless a start says otherwise. */
export async function createInstallation(
  dialect: 'sqlite' | 'postgres' = 'sqlite',
): Promise<Installation> {
  await buildConsole()
  const folder = scratchFolder('console')
  const database = await createDatabase(dialect)
  const ledgerKeyFile = join(folder, 'ledger-key.pem')
  const servers: Server[] = []
  let first = ''
  return {
    databaseUrl: database.url,
    ledgerKeyFile,
    async start(env = {}, key = first) {
      const server = await startProcess(
        {
          REMIT_DATABASE_URL: database.url,
          REMIT_LEDGER_KEY_FILE: ledgerKeyFile,
          REMIT_SECRETS_KEY_FILE: join(folder, 'secrets-key'),
          REMIT_EVALUATION: '1',
          REMIT_BOOTSTRAP_ORG: 'demo',
          REMIT_PORT: '0',
          ...env,
        },
        key,
      )
      servers.push(server)
      first ||= server.key
      return server
    },
    async remove() {
      await Promise.all(servers.map((server) => server.stop()))
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** One server of an installation of its own. */
export async function startServer(env: Env = {}): Promise<Server> {
  const installation = await createInstallation()
  try {
    const server = await installation.start(env)
    return { ...server, stop: () => installation.remove() }
  } catch (error) {
    await installation.remove()
    throw error
  }
}

async function startProcess(env: Env, key: string): Promise<Server> {
  const child = spawn(process.execPath, [...SOURCE_FLAGS, CLI, 'serve', '--json'], {
    env: programEnv(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const stop = async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
  }
  try {
    const { url, first } = await readStart(child)
    const own = first?.secret ?? key
    const operatorKey = (role: string): string => {
      const args = [...SOURCE_FLAGS, CLI, 'key', 'create', '--role', role, '--json']
      const said = execFileSync(process.execPath, args, { env: programEnv(env), encoding: 'utf8' })
      return (JSON.parse(said) as { key: { secret: string } }).key.secret
    }
    const api = createClient({ baseUrl: url, key: own })
    return { url, key: own, api, operatorKey, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Start {
  readonly url: string
  readonly first: { readonly secret: string } | null
}

/** The line that the server writes when it accepts requests. */
async function readStart(child: ChildProcess): Promise<Start> {
  const late = AbortSignal.timeout(READY_MS)
  let said = ''
  let log = ''
  child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()))
  const ended = once(child, 'close').then(() => {
    throw new Error(`the server ended: ${said}${log}`)
  })
  for (;;) {
    const line = /^\{.*\}$/m.exec(said)?.[0]
    if (line !== undefined) {
      ended.catch(() => undefined)
      return JSON.parse(line) as Start
    }
    await Promise.race([once(child.stdout ?? child, 'data', { signal: late }), ended])
  }
}
