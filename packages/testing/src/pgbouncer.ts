import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from './postgres-server.ts'
import { runStatement } from './run-statement.ts'

/** A connection pooler in front of a PostgreSQL server. */
export interface Pooler {
  /** The same database as the given URL, through the pooler. */
  readonly url: string
  stop(): Promise<void>
}

/** Returns true if PgBouncer is installed; tests that need it are skipped without it. */
export const hasPgbouncer = (): boolean => {
  const isThere = spawnSync('pgbouncer', ['--version']).status === 0
  if (!isThere) process.stderr.write('skipped: tests of connection poolers need PgBouncer\n')
  return isThere
}

const POOL_SIZE = 4

/**
 * Starts PgBouncer on a free port in front of `target`, in transaction mode by default. No setting of a
 * session reaches the next transaction, as with a server that the pooler has just connected to.
 */
export async function startPgbouncer(
  target: string,
  mode: 'transaction' | 'session' = 'transaction',
): Promise<Pooler> {
  const { hostname, port, username, password } = new URL(target)
  const folder = mkdtempSync(join(tmpdir(), 'remit-pgbouncer-'))
  const at = await freePort()
  const settings = join(folder, 'pgbouncer.ini')
  writeFileSync(
    settings,
    `[databases]
* = host=${hostname} port=${port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${at}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${POOL_SIZE}
server_reset_query = discard all
server_reset_query_always = 1
`,
  )
  // PgBouncer refuses to run as root.
  chmodSync(folder, 0o755)
  const asNobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  const child = spawn('pgbouncer', ['--quiet', settings], { stdio: 'ignore', ...asNobody })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String(at)
  await untilAnswers(url.toString())
  return {
    url: url.toString(),
    async stop() {
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function untilAnswers(url: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return void (await runStatement(url, 'select 1'))
    } catch (error) {
      if (attempt === 100) throw error
      await setTimeout(100)
    }
  }
}
