import { eachPart } from '../db/parts.ts'
import type { Part } from '../db/parts.ts'
import { SecretUnreadable } from '../secrets/secret-box.ts'
import type { Deps } from './module.ts'

export interface StoredSecrets<Row extends { readonly org_id: string } = { org_id: string }> {
  /** For the log, such as `webhook`. */
  readonly kind: string
  rows(part: Part): AsyncIterable<Row> | Promise<readonly Row[]>
  /**
   * Encrypts the secret of a row under the current key. Returns false if it is, or if another process
   * has replaced it; throws `SecretUnreadable`.
   */
  reseal(row: Row): Promise<boolean>
}

/** Stored secrets after `reseal`. */
export interface Resealed {
  /** Encrypted under the current key by this call. */
  readonly resealed: number
  /** Encrypted under a missing key, or modified; not changed. */
  readonly unreadable: number
  /** Organizations whose secrets could not all be read and written. */
  readonly failed: readonly string[]
}

/**
 * Encrypts secrets that are stored in plain text or under an older key. Safe to run concurrently in
 * several processes.
 */
export async function reseal(
  { db, log }: Pick<Deps, 'db' | 'log'>,
  secrets: readonly StoredSecrets[],
): Promise<Resealed> {
  let resealed = 0
  let unreadable = 0
  let failed: readonly string[] = []
  const resealRow = async (stored: StoredSecrets, row: { readonly org_id: string }) => {
    try {
      if (await stored.reseal(row)) resealed += 1
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error
      unreadable += 1
      const { kind } = stored
      log.error({ orgId: row.org_id, kind, reason: error.message }, 'a stored secret is unreadable')
    }
  }
  await eachPart(
    db,
    async (part) => {
      for (const stored of secrets)
        for await (const row of await stored.rows(part)) await resealRow(stored, row)
    },
    // They must not keep a server from its start.
    (error, organizations = []) => {
      failed = organizations
      log.error({ err: error, organizations }, 'encrypting stored secrets failed')
    },
  )
  return { resealed, unreadable, failed }
}
