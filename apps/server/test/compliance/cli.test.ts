import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LedgerVerification } from '@remit/contract'
import { inFullRun, someDialects } from '@remit/testing'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { cli, cliJson, createOrg } from '../support/cli.ts'
import { createInstallation, withoutGuards } from '../support/installation.ts'
import type { Installation } from '../support/installation.ts'

const isRun = inFullRun('compliance on the command line')
const isWhole = isRun && hasModules()

describe.skipIf(!isWhole).each(someDialects())('remit compliance on %s', (dialect) => {
  let installation: Installation
  let env: Readonly<Record<string, string>>
  let orgId: string

  beforeAll(async () => {
    installation = await createInstallation(dialect)
    env = { ...installation.env, REMIT_CHECKPOINT_DIR: join(installation.folder, 'checkpoints') }
    orgId = (await createOrg(env)).organization.id
  })
  afterAll(() => installation.remove())

  const file = (name: string) => join(installation.folder, name)

  describe('verify', () => {
    test('says what was found and what was not looked at, and records it', async () => {
      const text = await cli(['compliance', 'verify'], env)
      const found = await cliJson<LedgerVerification>(['compliance', 'verify'], env)

      expect(text).toMatchObject({ code: 0, stderr: '' })
      expect(text.stdout).toMatch(/^VALID\n/)
      expect(text.stdout).toMatch(/^recorded: +as entry 3$/m)
      expect(found).toMatchObject({ valid: true, checked: { entries: 4 }, ledger: { seq: 4 } })
      for (const sentence of found.not_checked) expect(text.stdout).toContain(sentence)
    })

    test('takes a part and a checkpoint that was kept elsewhere', async () => {
      const note = await cli(['ledger', 'checkpoint'], env)
      writeFileSync(file('kept.txt'), note.stdout)
      const part = await cliJson<LedgerVerification>(
        ['compliance', 'verify', '--from-seq', '1', '--to-seq', '2'],
        env,
      )
      const held = await cliJson<LedgerVerification>(
        ['compliance', 'verify', '--checkpoint', file('kept.txt')],
        env,
      )

      expect(part.checked).toEqual({ from_seq: 1, to_seq: 2, entries: 2 })
      expect(held.anchored_by).toBe('external')
    })

    test('refuses what it cannot use in one line', async () => {
      const { organization } = await createOrg(env, 'foreign')
      const foreign = await cli(['ledger', 'checkpoint', '--org', 'foreign'], env)
      writeFileSync(file('foreign.note'), foreign.stdout)
      writeFileSync(file('words.note'), 'words')
      const verify = (...args: string[]) =>
        cli(['compliance', 'verify', '--org', 'acme', ...args], env)
      const words = await verify('--checkpoint', file('words.note'))
      const other = await verify('--checkpoint', file('foreign.note'))
      const refused = await Promise.all([
        verify('--from-seq', 'one'),
        verify('--from-seq', '99999'),
        verify('--from-seq', '3', '--to-seq', '2'),
        cli(['compliance', 'verify', '--org', 'nobody'], env),
      ])

      // 1 is a verdict, and a scheduler would take it for one.
      for (const { code, stdout, stderr } of [words, other, ...refused]) {
        expect([code, stdout]).toEqual([2, ''])
        expect(stderr).toMatch(/^remit: [^\n]+\n$/)
      }
      expect(words.stderr).toContain(file('words.note'))
      expect(other.stderr).toMatch(
        new RegExp(
          `foreign\\.note has the origin \\S+${organization.id}\\S+ instead of \\S+${orgId}`,
        ),
      )
    })

    test('ends with 1 and the place where it found a change', async () => {
      const { organization } = await createOrg(env, 'tampered')
      await installation.database((db) =>
        withoutGuards(db, (open) =>
          open
            .updateTable('ledger_entry')
            .set({ payload: '{}' })
            .where('org_id', '=', organization.id)
            .where('seq', '=', 1)
            .execute(),
        ),
      )
      const text = await cli(['compliance', 'verify', '--org', 'tampered'], env)

      expect(text.code).toBe(1)
      expect(text.stdout).toMatch(/^TAMPERED\n/)
      expect(text.stdout).toContain('  seq 1: commitment_mismatch\n')
    })
  })

  describe('report', () => {
    // The organization is of today, which the period that applies by itself does not reach.
    const upToNow = () => [
      'compliance',
      'report',
      '--org',
      'acme',
      '--to',
      new Date().toISOString(),
    ]
    const report = (...args: string[]) => cli([...upToNow(), '--framework', 'soc2', ...args], env)

    test('writes the document to standard output, in each format', async () => {
      // One after another: in one process, a writer that waits for SQLite keeps the other from ending.
      const json = await report('--format', 'json')
      const csv = await report('--format', 'csv')
      const html = await report('--format', 'html')
      const oscal = await report('--format', 'oscal')

      for (const one of [json, csv, html, oscal]) expect(one).toMatchObject({ code: 0, stderr: '' })
      expect(JSON.parse(json.stdout)).toMatchObject({
        status: 'ready',
        generated_by: { type: 'system', id: 'remit' },
        evaluation: true,
        content: { framework: { id: 'soc2' } },
      })
      expect(csv.stdout).toMatch(/^"?framework"?,/)
      expect(html.stdout).toMatch(/^<!doctype html>/i)
      expect(JSON.parse(oscal.stdout)).toHaveProperty('assessment-results')
    })

    test('writes a file in one step and prints the summary', async () => {
      const text = await report('--out', file('soc2.json'))
      const json = await report('--out', file('again.json'), '--json')
      const stored = JSON.parse(readFileSync(file('soc2.json'), 'utf8')) as { id: string }

      expect(text).toMatchObject({ code: 0, stderr: '' })
      expect(text.stdout).toContain(stored.id)
      expect(text.stdout).toContain('verified up to the end of the period')
      expect(JSON.parse(json.stdout)).toMatchObject({ verified: true, summary: { total: 33 } })
      expect(readdirSync(installation.folder).filter((name) => /partial/.test(name))).toEqual([])
    })

    test('prints open findings, also where no control in scope can show them', async () => {
      // A key that nobody in particular created is a change without an author.
      await cli(['key', 'create', '--org', 'acme', '--role', 'read'], env)
      const { stdout } = await report('--category', 'privacy', '--out', file('privacy.json'))

      expect(stdout).toMatch(/^controls: +18: .*, 0 attention, .*, 18 manual$/m)
      expect(stdout).toMatch(
        /^open findings: +1 high; 1 finding concerns no control in the scope$/m,
      )
    })

    test('refuses what it cannot use, naming the option', async () => {
      const refused = await Promise.all([
        report('--from', 'tomorrow'),
        report('--role', 'importer'),
        report('--format', 'pdf'),
        report('--from', '2030-01-01', '--to', '2030-02-01'),
        cli(['compliance', 'report'], env),
      ])

      expect(refused.map(({ code }) => code)).toEqual([2, 2, 2, 1, 2])
      expect(refused[0].stderr).toMatch(/^remit: --from must be a date/)
      for (const { stderr, stdout } of refused) {
        expect(stdout).toBe('')
        expect(stderr).toMatch(/^remit: [^\n]+\n$/)
      }
    })

    test('shows how far it is on a terminal', async () => {
      const { stderr } = await cli([...upToNow(), '--framework', 'nist_ai_rmf'], env, {
        isTerminal: true,
      })

      expect(stderr.replaceAll('\r\u001b[K', '')).toMatch(/^(?:read [\d,]+ entries)*$/)
    })
  })

  test('a command leaves no heartbeat, no checkpoint and no lease behind', async () => {
    await cli(['compliance', 'verify', '--org', 'acme'], env)
    const found = await installation.database(async (db) => ({
      lease: await db
        .selectFrom('process_lease' as never)
        .selectAll()
        .execute(),
      heartbeats: await db
        .selectFrom('ledger_entry')
        .select('seq')
        .where('org_id', '=', orgId)
        .where('kind', '=', 'ledger.heartbeat')
        .execute(),
    }))

    expect(found).toEqual({ lease: [], heartbeats: [] })
    expect(readdirSync(installation.folder)).not.toContain('checkpoints')
  })
})

describe.skipIf(!isWhole)('remit compliance on a database that is not there', () => {
  test.each([
    ['verify', []],
    ['report', ['--framework', 'soc2']],
  ])('%s refuses, and makes neither database nor key', async (command, more) => {
    const installation = await createInstallation()
    const folder = join(installation.folder, 'mistyped')
    const { REMIT_LEDGER_KEY_FILE: _, ...env } = installation.env
    const refused = await cli(['compliance', command, ...more], {
      ...env,
      REMIT_DATABASE_URL: `sqlite:${join(folder, 'remit.db')}`,
    })
    const isMade = existsSync(folder)
    await installation.remove()

    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(
      /^remit: The database .+mistyped.+ does not exist; REMIT_DATABASE_URL names another one\n$/,
    )
    expect(isMade).toBe(false)
  })

  test.each(someDialects())(
    '%s: one without tables is refused, and stays as it is',
    async (dialect) => {
      const installation = await createInstallation(dialect, { hasTables: false })
      const { env } = installation
      // An empty database, as a mistyped name may well be one.
      await installation.database((db) => sql`select 1`.execute(db))
      const refused = await cli(['compliance', 'verify'], env)
      const isKeyMade = existsSync(env['REMIT_LEDGER_KEY_FILE']!)
      const again = await cli(['compliance', 'verify'], env)
      await installation.remove()

      expect(refused).toMatchObject({ code: 2, stdout: '' })
      expect(refused.stderr).toContain('no tables of Remit')
      expect(again).toEqual(refused)
      expect(isKeyMade).toBe(false)
    },
  )
})

describe.skipIf(!isRun)('without commercial modules', () => {
  test('no ledger is reported on, and the reason is said', async () => {
    const installation = await createInstallation()
    const env = { ...installation.env, REMIT_EVALUATION: '0' }
    await createOrg(env)
    const refused = await Promise.all([
      cli(['compliance', 'verify'], env),
      cli(['compliance', 'report', '--framework', 'soc2'], env),
    ])
    await installation.remove()

    for (const one of refused) {
      expect(one).toMatchObject({ code: 2, stdout: '' })
      expect(one.stderr).toMatch(
        /^remit: Compliance reports are not available in this edition\. .+\n$/,
      )
    }
  })
})
