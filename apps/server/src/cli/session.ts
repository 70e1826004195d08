import { existsSync } from 'node:fs'
import { openDatabase } from '@remit/core/db/open'
import type { Database, MigrationSet } from '@remit/core/db/open'
import { organizationIds } from '@remit/core/db'
import type { CoreTables, OrganizationRow } from '@remit/core/db'
import { findOrganization } from '@remit/core/orgs'
import type { Ports } from '@remit/core/module'
import { createClient, RemitError } from '@remit/contract/client'
import type { Client } from '@remit/contract/client'
import type { Command } from 'commander'
import { boot } from '../boot/boot.ts'
import type { Booted } from '../boot/boot.ts'
import { closeStorage, openStorage } from '../boot/database.ts'
import type { Storage } from '../boot/database.ts'
import { entitle } from '../boot/entitlement.ts'
import { migrationsOf } from '../boot/tables.ts'
import { ignoredNames, readConfig } from '../settings/config.ts'
import type { Config } from '../settings/config.ts'
import { createLog } from '../boot/log.ts'
import { CliError, EXIT } from './errors.ts'
import type { Io } from './files.ts'
import { printable } from './table.ts'

export class CommandRun {
  readonly io: Io
  /** With `--json`, results and errors are one JSON document per line. */
  json: boolean
  exitCode: number = EXIT.ok
  #config: Config | null = null

  constructor(io: Io, json: boolean) {
    this.io = io
    this.json = json
  }

  /** Returns the settings; warns once about ignored names. */
  get config(): Config {
    if (this.#config) return this.#config
    this.#config = readConfig(this.io.env)
    for (const sentence of ignoredNames(this.io.env)) this.warn(sentence)
    return this.#config
  }

  /** Prints the result: the value with `--json`, else the text. */
  print(value: unknown, text: string): void {
    this.io.stdout.write(this.json ? `${JSON.stringify(value)}\n` : printable(text))
  }

  /** Prints a warning for the operator. */
  warn(text: string): void {
    this.io.stderr.write(`remit: warning: ${printable(text)}\n`)
  }

  /**
   * Runs work on the product, booted like the server: the same license, tables and writer. The log
   * is silent by default, because errors are printed at the end.
   */
  async product<T>(work: (booted: Booted) => Promise<T>): Promise<T> {
    const { config } = this
    const level = config.REMIT_LOG_LEVEL
    const log = createLog(level === 'debug' || level === 'trace' ? level : 'silent')
    const booted = await boot(config, { log, background: false })
    try {
      return await work(booted)
    } finally {
      await booted.remit.close()
    }
  }

  /**
   * Runs work on the product that reads an organization. Looks it up read-only first: booting
   * creates missing parts, and a mistyped setting must not create a database and a key.
   */
  async reading<T>(
    idOrName: string | undefined,
    work: (booted: Booted, organization: OrganizationRow) => Promise<T>,
  ): Promise<T> {
    const organization = await this.database((db) => organizationOf(db, idOrName))
    return this.product((booted) => work(booted, organization))
  }

  /** Runs work on the product that changes an organization, by default the only one. */
  changing<T>(
    idOrName: string | undefined,
    work: (booted: Booted, organization: OrganizationRow) => Promise<T>,
  ): Promise<T> {
    return this.product(async (booted) => work(booted, await organizationOf(booted.db, idOrName)))
  }

  /** Returns the migrations of the modules that the license permits. */
  async migrations(): Promise<readonly MigrationSet[]> {
    return migrationsOf((await entitle(this.config, Date.now())).modules)
  }

  /** Runs work on the tables themselves: without keys, modules and ledgers. */
  async storage(
    work: (storage: Storage, sets: readonly MigrationSet[]) => Promise<void>,
  ): Promise<void> {
    const sets = await this.migrations()
    const storage = await openStorage(this.config, createLog('silent'))
    try {
      await work(storage, sets)
    } finally {
      await closeStorage(storage)
    }
  }

  /** Runs read-only work: no migrations, and SQLite is opened read-only. */
  async database<T>(work: (db: Database<CoreTables>) => Promise<T>): Promise<T> {
    const url = this.config.REMIT_DATABASE_URL
    if (url.startsWith('sqlite:') && !existsSync(url.slice('sqlite:'.length))) {
      throw new CliError(
        `The database ${url.slice('sqlite:'.length)} does not exist; REMIT_DATABASE_URL names another one`,
      )
    }
    const db = openDatabase<CoreTables>(url, { readonly: true })
    try {
      return await work(db)
    } finally {
      await db.destroy()
    }
  }
}

/** Returns the organization with that id or name; by default, the only one. */
export async function organizationOf(
  db: Database<CoreTables>,
  idOrName: string | undefined,
): Promise<OrganizationRow> {
  if (idOrName !== undefined) {
    const found = await findOrganization(db, idOrName)
    if (found) return found
    throw new CliError(`The organization ${idOrName} does not exist`, EXIT.failed)
  }
  const [id, ...others] = await organizationIds(db)
  if (others.length > 0)
    throw new CliError(`--org is required: there are ${others.length + 1} organizations`)
  const only = id === undefined ? undefined : await findOrganization(db, id)
  if (!only)
    throw new CliError('No organization exists; `remit org create` creates one', EXIT.failed)
  return only
}

/** Returns a port of the commercial modules. Throws `CliError` in an edition without it. */
export function portOf<Name extends keyof Ports>(
  { remit, entitlement }: Booted,
  name: Name,
  why: string,
): Ports[Name] {
  const port: Partial<Ports>[Name] = remit.ports[name]
  if (!port) throw new CliError(`${why} ${entitlement.notice}`)
  return port
}

const DEFAULT_URL = 'http://localhost:8080'

/** The option of a command that calls a running server, as a key of it may. */
export interface RemoteOptions {
  readonly url?: string
}

export const remoteOption = (command: Command): Command =>
  command.option('--url <url>', `The server; default REMIT_URL, or ${DEFAULT_URL}`)

/** Runs work on a server with the key in `REMIT_KEY`. Its refusals become errors of the command. */
export async function remotely<T>(
  { io: { env } }: CommandRun,
  { url: given }: RemoteOptions,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const url = given ?? env['REMIT_URL'] ?? DEFAULT_URL
  const key = env['REMIT_KEY']
  if (key === undefined || key === '') throw new CliError('REMIT_KEY is not set; it needs a key')
  if (!/^https?:/.test(url) || !URL.canParse(url))
    throw new CliError(`${url} is not an http or https URL`)
  try {
    return await work(createClient({ baseUrl: url, key }))
  } catch (error) {
    throw error instanceof RemitError ? refusal(url, error) : error
  }
}

function refusal(url: string, { code, status, problem, message }: RemitError): CliError {
  const reason = problem?.detail ?? message
  if (status === 0)
    return new CliError(`No server answers at ${url} (${code}); set --url or REMIT_URL`)
  if (status >= 500) return new CliError(`The server at ${url} cannot answer: ${reason}`)
  const exitCode = status === 401 ? EXIT.couldNotRun : EXIT.failed
  return new CliError(`The server at ${url} refuses: ${reason}`, exitCode)
}
