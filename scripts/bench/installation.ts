import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@remit/core/testing'
import type { Dialect } from '@remit/core'

/** An empty database and a signing key. */
export interface BenchInstallation {
  readonly databaseUrl: string
  readonly signingKey: string
  remove(): Promise<void>
}

export async function createInstallation(dialect: Dialect): Promise<BenchInstallation> {
  const signingKey = generateKeyPairSync('ed25519')
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()
  if (dialect === 'postgres') {
    const postgres = await startPostgres()
    return {
      databaseUrl: postgres.url,
      signingKey,
      async remove() {
        await postgres.stop()
        rmSync(postgres.folder, { recursive: true, force: true })
      },
    }
  }
  const folder = mkdtempSync(join(tmpdir(), 'remit-bench-'))
  return {
    databaseUrl: `sqlite:${join(folder, 'remit.db')}`,
    signingKey,
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  }
}
