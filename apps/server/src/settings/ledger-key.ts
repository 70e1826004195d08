import type { KeyObject } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createLedgerSigner, loadLedgerKey } from '@remit/core'
import type { CoreTables, Database } from '@remit/core'
import { ConfigError } from './config.ts'
import type { Config } from './config.ts'

/**
 * Returns the signing key of the ledgers: from the configured file, else next to the SQLite
 * database. Throws `ConfigError` if it is missing and must not be created, or invalid.
 */
export function openLedgerKey(config: Config, mayCreate: boolean): KeyObject {
  const path = ledgerKeyFile(config)
  if (!mayCreate && !existsSync(path)) {
    throw new ConfigError(
      `REMIT_LEDGER_KEY_FILE: ${path} does not exist; create it with \`remit ledger keygen ${path}\``,
    )
  }
  try {
    return loadLedgerKey(path, mayCreate)
  } catch (error) {
    throw new ConfigError(
      `REMIT_LEDGER_KEY_FILE: ${path} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

export function ledgerKeyFile(config: Config): string {
  return (
    config.REMIT_LEDGER_KEY_FILE ?? join(dataFolder(config.REMIT_DATABASE_URL), 'ledger-key.pem')
  )
}

const dataFolder = (databaseUrl: string): string =>
  databaseUrl.startsWith('sqlite:') ? dirname(databaseUrl.slice('sqlite:'.length)) : './data'

const MAX_LOOKED_AT = 1_000

/**
 * Returns the organizations whose ledger is signed with another key; the writer rejects their
 * requests.
 */
export async function foreignLedgers(
  db: Database<CoreTables>,
  key: KeyObject,
): Promise<readonly string[]> {
  const signer = createLedgerSigner(key)
  const heads = await db
    .selectFrom('ledger_head')
    .select(['org_id', 'origin', 'vkey'])
    .limit(MAX_LOOKED_AT)
    .execute()
  return heads.flatMap(({ org_id, origin, vkey }) =>
    signer.forOrigin(origin).vkey === vkey ? [] : [org_id],
  )
}
