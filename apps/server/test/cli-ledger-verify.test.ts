import { spawnSync } from 'node:child_process'
import { lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { someDialects } from '@remit/testing'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exitCodeOf } from '../src/cli/ledger-verify.ts'
import { cli, cliJson, createOrg } from './support/cli.ts'
import { createInstallation, withoutGuards } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

interface Checkpoint {
  readonly note: string
  readonly vkey: string
  readonly size: number
}

describe.each(someDialects())('ledger verify on %s', (dialect) => {
  let installation: Installation
  let env: Installation['env']
  const file = (name: string) => join(installation.folder, name)

  beforeAll(async () => {
    installation = await createInstallation(dialect)
    env = installation.env
  })
  afterAll(() => installation.remove())

  const makeLedger = async (name: string): Promise<string> => {
    const { organization } = await createOrg(env, name)
    await cliJson(['key', 'create', '--org', name, '--role', 'read'], env)
    return organization.id
  }
  const checkpointOf = (org: string) =>
    cliJson<Checkpoint>(['ledger', 'checkpoint', '--org', org], env)

  test('a sound ledger is ok, and what was not checked is said in both outputs', async () => {
    await makeLedger('sound')
    const text = await cli(['ledger', 'verify', '--org', 'sound'], env)
    const report = await cliJson<{ not_checked: string[] }>(
      ['ledger', 'verify', '--org', 'sound'],
      env,
    )

    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toMatch(/^OK\n/)
    expect(report).toMatchObject({
      status: 'ok',
      anchored_by: 'none',
      checked: { from_seq: 0, to_seq: 3, entries: 4 },
    })
    expect(report.not_checked.length).toBeGreaterThan(0)
    for (const sentence of report.not_checked) expect(text.stdout).toContain(sentence)
  })

  test('--require-anchor is met by the pinned key or a kept checkpoint, and by nothing else', async () => {
    await makeLedger('anchored')
    const { note, vkey } = await checkpointOf('anchored')
    writeFileSync(file('anchored.note'), note)
    const verify = (...more: string[]) =>
      cli(['ledger', 'verify', '--org', 'anchored', '--require-anchor', '--json', ...more], env)
    const runs = await Promise.all([
      verify(),
      verify('--vkey', vkey),
      verify('--checkpoint', file('anchored.note')),
    ])

    expect(runs.map(({ code }) => code)).toEqual([3, 0, 0])
    expect(runs.map(({ stdout }) => JSON.parse(stdout).anchored_by)).toEqual([
      'none',
      'signature',
      'external',
    ])
  })

  test('an entry that was changed is found: exit code 1 and its number', async () => {
    const id = await makeLedger('tampered')
    await installation.database((db) =>
      withoutGuards(db, (open) =>
        sql`update ledger_entry set payload = replace(payload, 'read', 'root') where org_id = ${id} and seq = 3`.execute(
          open,
        ),
      ),
    )
    const text = await cli(['ledger', 'verify', '--org', 'tampered'], env)
    const { code, stdout } = await cli(['ledger', 'verify', '--org', 'tampered', '--json'], env)

    expect(text.code).toBe(1)
    expect(text.stdout).toMatch(/^TAMPERED\n/)
    expect(text.stdout).toContain('seq 3: commitment_mismatch')
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ status: 'tampered', first_invalid: { seq: 3 } })
  })

  test('a checkpoint that lost its last newline, or has CRLF, is the same checkpoint', async () => {
    await makeLedger('kept')
    const { note } = await checkpointOf('kept')
    await cli(['ledger', 'export', '--org', 'kept', '--out', file('kept.ndjson')], env)
    for (const text of [note.trimEnd(), note.replaceAll('\n', '\r\n')]) {
      writeFileSync(file('kept.note'), text)
      for (const source of [
        ['--org', 'kept'],
        ['--file', file('kept.ndjson')],
      ]) {
        const args = ['ledger', 'verify', ...source, '--checkpoint', file('kept.note')]
        expect(await cliJson(args, env)).toMatchObject({ status: 'ok', anchored_by: 'external' })
      }
    }
  })

  test('what cannot be looked at is no verdict on the ledger: exit code 2', async () => {
    await makeLedger('mine')
    await makeLedger('yours')
    const { note } = await checkpointOf('yours')
    writeFileSync(file('yours.note'), note)
    writeFileSync(file('words.note'), 'words')
    await cli(['ledger', 'export', '--org', 'mine', '--out', file('mine.ndjson')], env)
    const mine = (...args: string[]) => cli(['ledger', 'verify', '--org', 'mine', ...args], env)
    const foreign = [
      await mine('--checkpoint', file('yours.note')),
      await cli(
        ['ledger', 'verify', '--file', file('mine.ndjson'), '--checkpoint', file('yours.note')],
        {},
      ),
    ]
    const words = await mine('--checkpoint', file('words.note'))
    const others = [
      await mine('--from-seq', '3', '--to-seq', '2'),
      await mine('--from-seq', '99999999'),
      await cli(['ledger', 'verify', '--org', 'nope'], env),
    ]

    for (const one of [...foreign, words, ...others]) {
      expect(one).toMatchObject({ code: 2, stdout: '' })
      expect(one.stderr).toMatch(/^remit: [^\n]+\n$/)
    }
    expect(words.stderr).toContain(file('words.note'))
    const origins = note.split('\n')[0]!
    for (const { stderr } of foreign) {
      expect(stderr).toContain(`${file('yours.note')} has the origin ${origins} instead of `)
      expect(stderr.match(/remit\.test\/ledger\//g)).toHaveLength(2)
    }
  })

  test('an export verifies without the database, and a changed line is found', async () => {
    await makeLedger('exported')
    const { vkey } = await checkpointOf('exported')
    const written = await cliJson(
      ['ledger', 'export', '--org', 'exported', '--out', file('export.ndjson')],
      env,
    )
    const text = readFileSync(file('export.ndjson'), 'utf8')
    writeFileSync(file('changed.ndjson'), text.replace('\\"read\\"', '\\"root\\"'))
    writeFileSync(file('cut.ndjson'), text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1))
    const verify = (name: string) =>
      cli(
        ['ledger', 'verify', '--file', file(name), '--vkey', vkey, '--require-anchor', '--json'],
        {},
      )

    expect(written).toMatchObject({ entries: 4 })
    expect(await verify('export.ndjson')).toMatchObject({ code: 0, stderr: '' })
    const changed = await verify('changed.ndjson')
    expect(changed.code).toBe(1)
    expect(JSON.parse(changed.stdout)).toMatchObject({
      status: 'tampered',
      first_invalid: { seq: 3 },
    })
    const cut = await verify('cut.ndjson')
    expect(cut.code).toBe(1)
    expect(JSON.parse(cut.stdout)).toMatchObject({ status: 'incomplete' })
  })

  test('a file without one line of an export is no verdict on a ledger: exit code 2', async () => {
    await makeLedger('damaged')
    await cli(['ledger', 'export', '--org', 'damaged', '--out', file('damaged.ndjson')], env)
    const text = readFileSync(file('damaged.ndjson'), 'utf8')
    const [header = '', ...lines] = text.trimEnd().split('\n')
    const verify = (content: string) => {
      writeFileSync(file('given.ndjson'), content)
      return cli(['ledger', 'verify', '--file', file('given.ndjson')], {})
    }

    for (const other of ['', '\n', 'words\n', '{"type":"header"}\n{"a":1}\n', header.slice(1)]) {
      expect(await verify(other), other).toEqual({
        code: 2,
        stdout: '',
        stderr: `remit: ${file('given.ndjson')} is not an export of a ledger\n`,
      })
    }
    const beginnings = [[], ['words', '', header.slice(1)], [header.slice(0, 40)]]
    for (const given of [...beginnings.map((first) => [...first, ...lines]), ['x', lines.at(-1)]]) {
      const { code, stdout } = await verify(given.join('\n'))
      expect(code).toBe(1)
      expect(stdout).toMatch(/^TAMPERED\n/)
      expect(stdout).toContain('the first line is not the header of an export')
    }
  })

  test('standard output gets the same export as the file', async () => {
    await makeLedger('piped')
    const piped = await cli(['ledger', 'export', '--org', 'piped'], env)
    await cli(['ledger', 'export', '--org', 'piped', '--out', file('piped.ndjson')], env)
    const rest = await cli(['ledger', 'export', '--org', 'piped', '--after-seq', '2'], env)

    expect(piped).toMatchObject({
      code: 0,
      stderr: '',
      stdout: readFileSync(file('piped.ndjson'), 'utf8'),
    })
    expect(rest.stdout.split('\n').filter((line) => line.includes('"type":"entry"'))).toHaveLength(
      1,
    )
  })

  test('the file of an export is for its owner alone, and no link or pipe is written through', async () => {
    await makeLedger('private')
    writeFileSync(file('another'), 'kept')
    symlinkSync(file('another'), file('private.ndjson.partial'))
    spawnSync('mkfifo', [file('pipe')])
    const exported = (name: string) =>
      cli(['ledger', 'export', '--org', 'private', '--out', file(name)], env)

    expect(await exported('private.ndjson')).toMatchObject({ code: 0 })
    expect(statSync(file('private.ndjson')).mode & 0o777).toBe(0o600)
    expect(lstatSync(file('private.ndjson')).isFile()).toBe(true)
    expect(readFileSync(file('another'), 'utf8')).toBe('kept')
    for (const name of ['pipe', '.']) {
      const refused = await exported(name)
      expect(refused).toMatchObject({ code: 2, stdout: '' })
      expect(refused.stderr).toMatch(/ exists and is not a regular file\n$/)
    }
    expect(statSync(file('pipe')).isFIFO()).toBe(true)
  })

  test('checkpoint prints the signed note to the byte, and the key beside it', async () => {
    await makeLedger('signed')
    const { note, vkey } = await checkpointOf('signed')

    expect(await cli(['ledger', 'checkpoint', '--org', 'signed'], env)).toEqual({
      code: 0,
      stdout: note,
      stderr: `verifier key: ${vkey}\n`,
    })
  })
})

describe('ledger verify without a ledger to judge', () => {
  test.each([
    ['a file that is not there', ['--file', '/nowhere/export.ndjson']],
    ['a key that is none', ['--file', '/nowhere/export.ndjson', '--vkey', 'nonsense']],
    [
      'a checkpoint that is not there',
      ['--file', '/nowhere/export.ndjson', '--checkpoint', '/nowhere/note'],
    ],
  ])('could not run, exit code 2: %s', async (_what, args) => {
    const { code, stdout, stderr } = await cli(['ledger', 'verify', ...args], {})

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^remit: .+\n$/)
  })
})

describe('exitCodeOf', () => {
  test.each([
    ['ok', 'none', false, 0],
    ['ok', 'none', true, 3],
    ['ok', 'signature', true, 0],
    ['ok', 'external', true, 0],
    ['tampered', 'external', true, 1],
    ['tampered', 'none', true, 1],
    ['behind_checkpoint', 'signature', false, 1],
    ['incomplete', 'none', false, 1],
  ] as const)(
    '%s, anchored by %s, --require-anchor %s: %i',
    (status, anchored_by, required, code) => {
      expect(exitCodeOf({ status, anchored_by }, required)).toBe(code)
    },
  )
})
