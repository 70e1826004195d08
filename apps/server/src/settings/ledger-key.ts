import type { KeyObject } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createLedgerSigner, loadLedgerKey } from '@remit/core'
import type { CoreTables, Database } from '@remit/core'
import { ConfigError } from './config.ts'
import type { Config } from './config.ts'

/**
 * The ledger's signing key: of the configured file, else beside the SQLite database. Throws
 * `ConfigError` when it is not there and may not be made, or cannot be used.
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

/** Organizations whose ledger is signed with another key; the writer refuses to touch theirs. */
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
