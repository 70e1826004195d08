import { createPrivateKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Database } from '@remit/core/db/open'
import { eachPart, inPart } from '@remit/core/db'
import type { CoreTables } from '@remit/core/db'
import { openRemoteKey, parseKeyReference, createWitness } from '@remit/core/kms'
import type { KeyReference } from '@remit/core/kms'
import { createLedgerSigner, loadLedgerKey } from '@remit/core/ledger/proofs'
import type { Settings } from '@remit/core/module'
import { ConfigError } from './environment.ts'
import type { Config } from './config.ts'
import { fileFault, readSettingFile } from './read-file.ts'

/**
 * Returns the signing key of the ledgers: from the configured file, else next to the SQLite
 * database. Throws `ConfigError` if it is missing and must not be created, or invalid.
 */
export async function openLedgerKey(config: Config, mayCreate: boolean): Promise<KeyObject> {
  const path = ledgerKeyFile(config)
  const reference = config.REMIT_LEDGER_KEY && parseKeyReference(config.REMIT_LEDGER_KEY)
  if (reference) return unwrapped(path, reference, config.REMIT_LEDGER_KEY_ENDPOINT)
  if (!mayCreate && !existsSync(path)) {
    throw new ConfigError(
      `REMIT_LEDGER_KEY_FILE: ${path} does not exist; create it with \`remit ledger keygen ${path}\``,
    )
  }
  try {
    return loadLedgerKey(path, mayCreate)
  } catch (error) {
    throw new ConfigError(`REMIT_LEDGER_KEY_FILE: ${path} cannot be used: ${fileFault(error)}`)
  }
}

/** Returns the key of an encrypted file; its plain text is only in memory. */
async function unwrapped(
  path: string,
  reference: KeyReference,
  endpoint: string | undefined,
): Promise<KeyObject> {
  const wrapped = readSettingFile('REMIT_LEDGER_KEY_FILE', path).trim()
  try {
    const key = createPrivateKey(
      await openRemoteKey(reference, process.env, endpoint).decrypt(wrapped),
    )
    if (key.asymmetricKeyType !== 'ed25519') throw new Error('it is not an Ed25519 private key')
    return key
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new ConfigError(`REMIT_LEDGER_KEY: ${path} cannot be decrypted: ${why}`)
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
  const heads = await eachPart(
    db,
    (part) =>
      db
        .selectFrom('ledger_head')
        .select(['org_id', 'origin', 'vkey'])
        .where(inPart(part))
        .limit(MAX_LOOKED_AT)
        .execute(),
    // The writer checks the key of the organizations that are unavailable when they are back.
    () => undefined,
  )
  return heads
    .flat()
    .flatMap(({ org_id, origin, vkey }) => (signer.forOrigin(origin).vkey === vkey ? [] : [org_id]))
}

/** The object store for checkpoints, with the credentials of AWS's own tools; none without its URL. */
export function checkpointBucket(config: Config): Pick<Settings, 'checkpointBucket'> {
  const { REMIT_CHECKPOINT_BUCKET: text, REMIT_CHECKPOINT_LOCK_DAYS: lockDays } = config
  if (text === undefined) return {}
  const { origin, pathname } = new URL(text)
  const [, bucket = '', ...folders] = decodeURIComponent(pathname).split('/')
  const path = folders.filter((folder) => folder !== '').join('/')
  const token = process.env['AWS_SESSION_TOKEN']
  return {
    checkpointBucket: {
      bucket: {
        endpoint: origin,
        bucket,
        region: process.env['AWS_REGION'] ?? 'us-east-1',
        accessKeyId: needed('AWS_ACCESS_KEY_ID'),
        secretAccessKey: needed('AWS_SECRET_ACCESS_KEY'),
        ...(token && { sessionToken: token }),
      },
      prefix: path === '' ? '' : `${path}/`,
      lockDays,
    },
  }
}

function needed(name: string): string {
  const value = process.env[name]
  if (value === undefined || value === '')
    throw new ConfigError(`REMIT_CHECKPOINT_BUCKET needs the environment variable ${name}`)
  return value
}

/** The settings of the witness; none without `REMIT_WITNESS`. */
export function witnessSettings({
  REMIT_WITNESS: text,
  REMIT_WITNESS_ENDPOINT: endpoint,
  REMIT_WITNESS_INTERVAL_MS: witnessEveryMs,
}: Config): Pick<Settings, 'witness' | 'witnessEveryMs'> {
  const reference = text === undefined ? null : parseKeyReference(text)
  if (reference === null) return {}
  return { witness: createWitness(openRemoteKey(reference, process.env, endpoint)), witnessEveryMs }
}
