import type { KeyObject } from 'node:crypto'
import type { Database, MigrationSet } from '@remit/core/db/open'
import type { CoreTables } from '@remit/core/db'
import type { Config } from '../settings/config.ts'

export interface CheckFacts {
  readonly config: Config
  /** Read-only. */
  readonly db: Database<CoreTables>
  readonly migrations: readonly MigrationSet[]
  /** The time of this machine in milliseconds. */
  readonly now: () => number
  /** The vendor's public key; tests pass their own. */
  readonly licenseKey: KeyObject
  /** Folder of backups, if it was given. */
  readonly backup: string | undefined
}

/** The result of one check, with what to do unless it is `ok`. */
export interface Finding {
  readonly status: 'ok' | 'warning' | 'problem'
  readonly message: string
  readonly todo: string | null
}

export type Check = (facts: CheckFacts) => Finding | Promise<Finding>

export const ok = (message: string): Finding => ({ status: 'ok', message, todo: null })
export const warning = (message: string, todo: string): Finding => ({
  status: 'warning',
  message,
  todo,
})
export const problem = (message: string, todo: string): Finding => ({
  status: 'problem',
  message,
  todo,
})

const SHOWN = 5

/** Lists names for a message: five at most, and how many more. */
export const listed = (names: readonly string[]): string =>
  names.length <= SHOWN
    ? names.join(', ')
    : `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more`
