import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { contract } from '@remit/contract'
import type { EndpointName } from '@remit/contract'
import type { Database } from '@remit/core/db/open'
import { organizationTables } from '@remit/core/db'
import type { CoreTables } from '@remit/core/db'
import { generateSecretsKey } from '@remit/core/secrets'
import { LOGIN_CLIENT, someDialects, startLoginProvider } from '@remit/testing'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { boot } from '../src/boot/boot.ts'
import { hasModules } from '../src/boot/modules.ts'
import { readConfig } from '../src/settings/config.ts'
import { cli, cliJson } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

/** The ids of the keys that stored secrets are encrypted under. */
async function keysInUse(db: Database<CoreTables>): Promise<Set<string | undefined>> {
  const tables = await organizationTables(db)
  const rows = await Promise.all(
    tables.map(({ name }) => sql`select * from ${sql.table(name)}`.execute(db)),
  )
  const text = JSON.stringify(rows)
  return new Set([...text.matchAll(/\benc1\.([0-9a-f]{8})\./g)].map(([, id]) => id))
}

describe.skipIf(!hasModules()).each(someDialects())(
  'rotation of stored secrets on %s',
  (dialect) => {
    let installation: Installation
    let env: Record<string, string>
    let file: string
    let orgId: string
    let old: string
    let next: string
    /** All keys so far, newest first. */
    let keys: string[]
    const keygen = async (...more: string[]) =>
      (await cliJson<{ key_id: string }>(['secrets', 'keygen', file, ...more], env)).key_id
    const reseal = async () => {
      const { code, stdout } = await cli(['secrets', 'reseal', '--json'], env)
      return { code, ...(JSON.parse(stdout) as object) }
    }

    beforeAll(async () => {
      installation = await createInstallation(dialect)
      env = { ...installation.env, REMIT_LOG_LEVEL: 'silent', REMIT_ALLOW_LOOPBACK_TARGETS: '1' }
      file = join(installation.folder, 'secrets-key.txt')
      old = await keygen()
      const provider = await startLoginProvider()
      const { remit, newOrganization } = await boot(readConfig(env))
      const { organization, key } = await newOrganization('acme')
      orgId = organization.id
      const create = async (name: EndpointName, body: object) => {
        const { method, path } = contract[name]
        const headers = {
          authorization: `Bearer ${key.secret}`,
          'content-type': 'application/json',
        }
        const sent = { method, headers, body: JSON.stringify(body) }
        expect((await remit.app.request(path, sent)).ok, name).toBe(true)
      }
      const { issuer } = provider
      const { clientId: client_id, clientSecret: client_secret } = LOGIN_CLIENT
      const target = { url: `${issuer}/in`, headers: { authorization: 'Bearer token' } }
      await create('createWebhook', { url: 'https://hooks.example.com/remit', enabled: false })
      await create('createSink', { type: 'https', target, enabled: false })
      await create('setLoginProvider', { issuer, client_id, client_secret })
      await remit.close()
      await provider.close()
      next = await keygen('--add')
      keys = readFileSync(file, 'utf8').split('\n').filter(Boolean).toReversed()
      writeFileSync(file, keys.join('\n'))
    })
    afterAll(() => installation.remove())

    it('encrypts secrets of every kind under the first key, and names the other keys', async () => {
      expect((await cli(['secrets', 'keygen', file], env)).stderr).toContain('is not replaced')
      expect(await installation.database(keysInUse)).toEqual(new Set([old]))

      expect(await reseal()).toEqual({
        code: 0,
        file,
        key_id: next,
        resealed: 3,
        unreadable: 0,
        failed_organizations: [],
        other_key_ids: [old],
      })
      expect(await installation.database(keysInUse)).toEqual(new Set([next]))
    })

    describe('needs all keys', () => {
      it('while a secret cannot be decrypted', async () => {
        writeFileSync(file, [generateSecretsKey().trim(), keys.at(-1)].join('\n'))

        expect(await reseal()).toMatchObject({ code: 1, unreadable: 3, other_key_ids: [] })
        const { stdout } = await cli(['secrets', 'reseal'], env)
        expect(stdout).toMatch(/no longer needed: +none/)
      })

      it('where no module can read secrets', async () => {
        const { code, stdout, stderr } = await cli(['secrets', 'reseal'], {
          ...env,
          REMIT_EVALUATION: '0',
        })

        expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
        expect(stderr).toContain('Commercial modules are not loaded')
      })

      describe('while a table', () => {
        const hidden = async (
          table: string,
          more?: (db: Database<CoreTables>) => Promise<unknown>,
        ) => {
          keys = [generateSecretsKey().trim(), ...keys]
          writeFileSync(file, keys.join('\n'))
          await installation.database(async (db) => {
            await sql`alter table ${sql.table(table)} rename to hidden`.execute(db)
            await more?.(db)
          })
          const { code, stdout } = await cli(['secrets', 'reseal', '--json'], env)
          await installation.database((db) =>
            sql`alter table hidden rename to ${sql.table(table)}`.execute(db),
          )
          return { code, stdout }
        }

        it.each(['webhook', 'sink', 'login_provider'])('%s cannot be read', async (table) => {
          const { code, stdout } = await hidden(table)

          expect(code).not.toBe(0)
          expect(stdout).toBe('')
        })

        it.runIf(dialect === 'postgres').each(['webhook', 'sink', 'login_provider'])(
          '%s cannot be read for an organization of a cluster, which is named',
          async (table) => {
            const { code, stdout } = await hidden(table, markDistributed)

            expect(code).toBe(1)
            expect(JSON.parse(stdout)).toMatchObject({
              unreadable: 0,
              failed_organizations: [orgId],
              other_key_ids: [],
            })
          },
        )
      })
    })
  },
)

/** As `remit distribute` leaves it, but on one node. */
async function markDistributed(db: Database<CoreTables>): Promise<void> {
  await sql`create table if not exists directory_key as select id, org_id from ingest_key`.execute(
    db,
  )
  await sql`create table if not exists directory_organization as
    select id, name from organization`.execute(db)
}
