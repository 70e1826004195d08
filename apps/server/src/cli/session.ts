import { existsSync } from 'node:fs'
import { findOrganization, listOrganizations, openDatabase } from '@remit/core'
import type { CoreTables, Database, OrganizationRow } from '@remit/core'
import { boot } from '../boot/boot.ts'
import type { Booted } from '../boot/boot.ts'
import { ignoredNames, readConfig } from '../settings/config.ts'
import type { Config } from '../settings/config.ts'
import { createLog } from '../boot/log.ts'
import { CliError, EXIT } from './errors.ts'
import type { Io } from './io.ts'
import { printable } from './printable.ts'

/** One run of the command line. */
export class Session {
  readonly io: Io
  /** `--json` was given: results and errors are one JSON document a line. */
  json: boolean
  exitCode: number = EXIT.ok
  #config: Config | null = null

  constructor(io: Io, json: boolean) {
    this.io = io
    this.json = json
  }

  /** The settings; says once which names are ignored. */
  get config(): Config {
    if (this.#config) return this.#config
    this.#config = readConfig(this.io.env)
    for (const sentence of ignoredNames(this.io.env)) this.warn(sentence)
    return this.#config
  }

  /** Writes the result: the value with `--json`, the text for a person otherwise. */
  print(value: unknown, text: string): void {
    this.io.stdout.write(this.json ? `${JSON.stringify(value)}\n` : printable(text))
  }

  /** Says what the operator should know, beside the result. */
  warn(text: string): void {
    this.io.stderr.write(`remit: warning: ${printable(text)}\n`)
  }

  /**
   * Work on the product, booted as the server boots it: the same licence, tables and writer. The log
   * is silent unless asked for, since whatever fails is told in the end.
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
   * Work on the product that reads what an organization has. It is looked for first, without the right to
   * write: booting makes whatever is missing, and a mistyped setting must not make a database and a key.
   */
  async reading<T>(
    idOrName: string | undefined,
    work: (booted: Booted, organization: OrganizationRow) => Promise<T>,
  ): Promise<T> {
    const organization = await this.database((db) => organizationOf(db, idOrName))
    return this.product((booted) => work(booted, organization))
  }

  /** Work that only reads: the tables stay as they are, and SQLite is opened without the right to write. */
  async database<T>(work: (db: Database<CoreTables>) => Promise<T>): Promise<T> {
    const url = this.config.REMIT_DATABASE_URL
    if (url.startsWith('sqlite:') && !existsSync(url.slice('sqlite:'.length))) {
      throw new CliError(`The database ${url.slice('sqlite:'.length)} does not exist`)
    }
    const db = openDatabase<CoreTables>(url, { readonly: true })
    try {
      return await work(db)
    } finally {
      await db.destroy()
    }
  }
}

/** The organization of that id or name; without one, the only one there is. */
export async function organizationOf(
  db: Database<CoreTables>,
  idOrName: string | undefined,
): Promise<OrganizationRow> {
  if (idOrName !== undefined) {
    const found = await findOrganization(db, idOrName)
    if (found) return found
    throw new CliError(`The organization ${idOrName} does not exist`, EXIT.failed)
  }
  const [only, ...others] = await listOrganizations(db)
  if (!only)
    throw new CliError('No organization exists; `remit org create` creates one', EXIT.failed)
  if (others.length > 0)
    throw new CliError(`--org is required: there are ${others.length + 1} organizations`)
  return only
}
