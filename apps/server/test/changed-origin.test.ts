import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LedgerVerification } from '@remit/contract'
import type { VerifyReport } from '@remit/core/ledger/records'
import { someDialects } from '@remit/testing'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { cli, cliJson, createOrg } from './support/cli.ts'
import { createInstallation, withoutGuards } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { oldLedger } from './support/old-ledger.ts'

const ELSEWHERE = { origin: 'elsewhere.test/ledger/org_x/led_x' }
const VERIFICATIONS = [['ledger', 'verify'], ...(hasModules() ? [['compliance', 'verify']] : [])]

describe.each(someDialects())('with a changed origin on %s', (dialect) => {
  let installation: Installation
  let env: Installation['env']
  beforeAll(async () => {
    installation = await createInstallation(dialect)
    env = installation.env
  })
  afterAll(() => installation.remove())

  const file = (name: string) => join(installation.folder, name)
  /** Keeps a checkpoint of a ledger in a file. */
  const keep = async (orgId: string) => {
    const { note, vkey } = await cliJson<{ note: string; vkey: string }>(
      ['ledger', 'checkpoint', '--org', orgId],
      env,
    )
    const path = file(`${orgId}.note`)
    writeFileSync(path, note)
    return { origin: note.split('\n')[0], vkey, args: ['--checkpoint', path] }
  }
  const setHead = (orgId: string) =>
    installation.database((db) =>
      db.updateTable('ledger_head').set(ELSEWHERE).where('org_id', '=', orgId).execute(),
    )
  /** The report of a verification that finds something. */
  const found = async (args: readonly string[]) => {
    const { code, stdout, stderr } = await cli([...args, '--json'], env)
    expect([code, stderr]).toEqual([1, ''])
    return JSON.parse(stdout) as VerifyReport | LedgerVerification
  }

  test.each(['whole', 'pruned'])(
    'in the head, checkpoints still confirm a %s ledger and its exports',
    async (name) => {
      const orgId = await oldLedger(installation)
      const prune = ['ledger', 'prune', '--org', orgId, '--keep-days', '400', '--yes']
      if (name === 'pruned') await cliJson([...prune, '--export', file('pruned.ndjson')], env)
      const { origin, vkey, args } = await keep(orgId)
      await setHead(orgId)

      for (const verify of VERIFICATIONS) {
        const report = await found([...verify, '--org', orgId, ...args])
        expect(report).toMatchObject({ anchored_by: 'external', checkpoints: { mismatched: 0 } })
        expect(report.errors).toMatchObject([{ code: 'head_mismatch', detail: 'origin' }])
      }

      const out = file(name)
      expect(await cliJson(['org', 'export', orgId, '--out', out], env)).toMatchObject({ vkey })
      for (const part of ['ledger', 'configuration'])
        expect(readFileSync(join(out, `${part}.ndjson`), 'utf8').split('\n')[0]).toContain(
          `"origin":"${origin}"`,
        )
      const exported = ['ledger', 'verify', '--file', join(out, 'ledger.ndjson'), ...args]
      expect(await cliJson(exported, env)).toMatchObject({ status: 'ok', anchored_by: 'external' })
    },
  )

  test('in the record of the origin, the change is found, and no checkpoint is refused', async () => {
    const { organization } = await createOrg(env, 'genesis')
    const { args } = await keep(organization.id)
    await installation.database((db) =>
      withoutGuards(db, (open) =>
        sql`update ledger_entry set payload = replace(payload, '"origin":"remit', '"origin":"other')
          where org_id = ${organization.id} and seq = 0`.execute(open),
      ),
    )

    for (const verify of VERIFICATIONS) {
      const { errors } = await found([...verify, '--org', 'genesis', ...args])
      expect(errors).toMatchObject([{ seq: 0, code: 'commitment_mismatch' }])
    }
  })
})
