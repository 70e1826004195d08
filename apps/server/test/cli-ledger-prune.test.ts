import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { inFullRun, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cli, cliJson } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { oldLedger } from './support/old-ledger.ts'
import { startServer } from './support/process.ts'

const isRun = inFullRun('pruning on the command line')

const PYTHON = resolve(import.meta.dirname, '../../../packages/core/test/ledger/verify_export.py')
const hasPython = spawnSync('python3', ['--version']).status === 0

interface Result {
  readonly planned: Record<string, unknown> | null
  readonly left_over?: number
  readonly pruned: (Record<string, unknown> & { readonly seq: number; readonly cut: number }) | null
}

describe.skipIf(!isRun).each(someDialects())('ledger prune on %s', (dialect) => {
  let installation: Installation
  let env: Installation['env']
  beforeAll(async () => {
    installation = await createInstallation(dialect)
    env = installation.env
  })
  afterAll(() => installation.remove())

  const file = (name: string) => join(installation.folder, name)
  const prune = (orgId: string, name: string, ...more: string[]) =>
    cli(['ledger', 'prune', '--org', orgId, '--export', file(name), ...more], env)
  const pruneJson = (orgId: string, name: string, ...more: string[]) =>
    cliJson<Result>(['ledger', 'prune', '--org', orgId, '--export', file(name), ...more], env)
  const firstSeq = (orgId: string) =>
    installation.database(async (db) => {
      const { seq } = await db
        .selectFrom('ledger_entry')
        .select((one) => one.fn.min('seq').as('seq'))
        .where('org_id', '=', orgId)
        .executeTakeFirstOrThrow()
      return seq
    })

  test('without --yes it says what would go, and nothing does', async () => {
    const orgId = await oldLedger(installation)
    const text = await prune(orgId, 'unwritten', '--keep-days', '400')
    const json = await pruneJson(orgId, 'unwritten', '--keep-days', '400')

    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toMatch(/^entries to remove: +13, seq 0 to 12$/m)
    expect(text.stdout).toContain('Nothing was removed; add --yes to prune.')
    expect(json).toMatchObject({ planned: { from_seq: 0, cut: 13, short: false }, pruned: null })
    expect(existsSync(file('unwritten'))).toBe(false)
    expect(await firstSeq(orgId)).toBe(0)
  })

  test('with --yes they go into a file that verifies alone, and the ledger verifies from there on', async () => {
    const orgId = await oldLedger(installation)
    const { vkey } = await cliJson<{ vkey: string }>(['ledger', 'checkpoint', '--org', orgId], env)
    const { pruned } = await pruneJson(
      orgId,
      'gone.ndjson',
      '--keep-days',
      '400',
      '--yes',
      '--person',
      'ada@example.org',
    )
    const verified = await cliJson(['ledger', 'verify', '--org', orgId, '--vkey', vkey], env)
    const alone = await cliJson(
      ['ledger', 'verify', '--file', file('gone.ndjson'), '--vkey', vkey],
      {},
    )
    await cliJson(['ledger', 'export', '--org', orgId, '--out', file('rest.ndjson')], env)

    expect(pruned).toMatchObject({
      from_seq: 0,
      cut: 13,
      entries: 13,
      removed: 13,
      carried: 12,
      seq: 26,
      file: file('gone.ndjson'),
      warnings: [],
    })
    expect(await firstSeq(orgId)).toBe(13)
    expect(verified).toMatchObject({
      status: 'ok',
      checked: { from_seq: 13, to_seq: 26 },
      anchored_by: 'signature',
      pruned: [{ seq: 26, cut: 13 }],
    })
    expect(alone).toMatchObject({ status: 'ok', checked: { from_seq: 0, to_seq: 12 } })
    // Removed entries may be confidential.
    expect(statSync(file('gone.ndjson')).mode & 0o777).toBe(0o600)
    if (!hasPython) return
    for (const name of ['gone.ndjson', 'rest.ndjson']) {
      const { stdout, status } = spawnSync('python3', ['-B', PYTHON, file(name), vkey])
      expect([name, status, JSON.parse(stdout.toString())]).toEqual([
        name,
        0,
        { status: 'ok', anchored_by: 'signature', seq: null, code: null },
      ])
    }
  })

  test('a second one has nothing to do, and says so', async () => {
    const orgId = await oldLedger(installation)
    await pruneJson(orgId, 'first.ndjson', '--keep-days', '400', '--yes')
    const again = await prune(orgId, 'second.ndjson', '--keep-days', '400', '--yes')

    expect(again).toMatchObject({ code: 0, stderr: '' })
    expect(again.stdout).toMatch(/^Nothing to prune/)
    expect(existsSync(file('second.ndjson'))).toBe(false)
  })

  test('a running server goes on writing, and what it writes continues the ledger', async () => {
    const orgId = await oldLedger(installation)
    const { url, server } = await startServer(env)
    await pruneJson(orgId, 'served.ndjson', '--keep-days', '400', '--yes')
    await cliJson(['key', 'create', '--org', orgId, '--role', 'read'], env)

    expect((await fetch(`${url}/ready`)).status).toBe(200)
    expect(await cliJson(['ledger', 'verify', '--org', orgId], env)).toMatchObject({ status: 'ok' })
    await server.stop()
  })

  test('entries within the retention stay; shorter needs the setting, the flag, and warns', async () => {
    const orgId = await oldLedger(installation)
    const kept = await prune(orgId, 'short.ndjson', '--keep-days', '100', '--yes')
    const refused = await cli(['org', 'set', orgId, 'retention_days=90'], env)
    const set = await cli(
      ['org', 'set', orgId, 'retention_days=90', '--acknowledge-short-retention'],
      env,
    )
    const unsaid = await prune(orgId, 'short.ndjson', '--keep-days', '100', '--yes')
    const done = await prune(
      orgId,
      'short.ndjson',
      '--keep-days',
      '100',
      '--yes',
      '--acknowledge-short-retention',
    )

    expect(kept).toMatchObject({ code: 1, stdout: '' })
    expect(kept.stderr).toContain('The setting retention_days keeps entries for 400 days')
    for (const { code, stderr } of [refused, unsaid]) {
      expect(code).toBe(1)
      expect(stderr).toMatch(/19\(1\) and 26\(6\)/)
    }
    for (const { code, stderr } of [set, done]) {
      expect(code).toBe(0)
      expect(stderr).toMatch(
        /^remit: warning: Entries may be removed after \d+ days\..+19\(1\) and 26\(6\)/,
      )
    }
    expect(await firstSeq(orgId)).toBe(13)
  })

  test.each([
    [['--yes'], '--before or --keep-days is required'],
    [['--before', '2025-01-01', '--keep-days', '500'], '--before or --keep-days is required'],
    [['--before', 'yesterday'], '--before must be a date, or a time in RFC 3339; given: yesterday'],
    [['--before', '2025-01-01T00:00:00'], '--before must be a date, or a time in RFC 3339'],
    [['--keep-days', '1.5'], '--keep-days must be a whole number; given: 1.5'],
    [['--keep-days', '400', '--reason', '', '--yes'], '--reason must be one line'],
    [['--keep-days', '400', '--reason', ' \u00A0\u200B', '--yes'], '--reason must be one line'],
  ])('refuses %j', async (args, message) => {
    const orgId = await oldLedger(installation, 1)
    const refused = await prune(orgId, 'refused.ndjson', ...args)

    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain(message)
    expect(existsSync(file('refused.ndjson'))).toBe(false)
    expect(await firstSeq(orgId)).toBe(0)
  })

  test('a file that exists, or cannot be written, ends it before anything goes', async () => {
    const orgId = await oldLedger(installation)
    const text = readFileSync(file('gone.ndjson'), 'utf8')
    const existing = await prune(orgId, 'gone.ndjson', '--keep-days', '400', '--yes')
    const nowhere = await prune(orgId, 'no/such/folder', '--keep-days', '400', '--yes')

    expect(existing.code).toBe(1)
    expect(existing.stderr).toContain('already exists and is not replaced')
    expect(readFileSync(file('gone.ndjson'), 'utf8')).toBe(text)
    expect(nowhere.code).toBe(2)
    expect(nowhere.stderr).toMatch(
      /no\/such\/folder cannot be written: no such file or directory\n$/,
    )
    expect(await firstSeq(orgId)).toBe(0)
  })
})
