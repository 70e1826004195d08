import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { writeState } from '../src/watch/watch.ts'
import { cli, cliJson, createOrg } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

let installation: Installation
const file = (name: string) => join(installation.folder, name)

beforeAll(async () => {
  installation = await createInstallation()
  writeFileSync(file('text'), 'no key')
  writeFileSync(file('results.jsonl'), '{"output":"abc"}\n')
  writeFileSync(file('params.json'), '{"pattern":"^ab"}')
  mkdirSync(file('folder'))
  await createOrg(installation.env)
})
afterAll(() => installation.remove())
afterEach(() => void vi.unstubAllEnvs())

/** As `pnpm --dir <checkout> remit` runs it from the folder of the installation. */
function remit(...args: string[]) {
  vi.stubEnv('INIT_CWD', installation.folder)
  vi.stubEnv('npm_lifecycle_event', 'remit')
  vi.stubEnv('npm_package_json', join(process.cwd(), 'package.json'))
  return cli(args, installation.env)
}

const WATCH = ['ledger', 'watch', 'http://127.0.0.1:9', '--once', '--key', 'rmk_x', '--state']

describe('a file that the system refuses', () => {
  test.each([
    [['ledger', 'verify', '--file', 'none'], 'none cannot be read: no such file or directory'],
    [['ledger', 'verify', '--checkpoint', 'none'], 'none cannot be read: no such file or'],
    [['ledger', 'verify', '--file', 'folder'], 'folder cannot be read: it is not a regular file'],
    [['ledger', 'export', '--out', 'none/out'], 'none/out cannot be written: no such file or'],
    [['org', 'export', 'acme', '--out', 'none/out'], 'none/out cannot be created: no such file'],
    [['score', '--scorer', 'exact_match', 'none'], 'none cannot be read: no such file or'],
    [['secrets', 'keygen', 'none', '--add'], 'none cannot be read: no such file or directory'],
    [['secrets', 'keygen', 'text', '--add'], 'text cannot be used: line 1 is not base64'],
    [[...WATCH, 'folder'], 'folder cannot be read: it is not a regular file'],
  ])('is named without codes by remit %j', async (args, message) => {
    const { code, stdout, stderr } = await remit(...args)

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.replace(installation.folder, '').replace('remit: /', 'remit: ')).toContain(
      `remit: ${message}`,
    )
    expect(stderr).not.toMatch(/E[A-Z]{4,}|partial|REMIT_/)
  })

  test('is named without codes where the state of a watcher is written', () => {
    const state = { vkey: 'v', size: 1, root: '0'.repeat(64), note: 'n', checked_at: 't' }

    expect(() => writeState(file('text/state'), state)).toThrow(
      `${file('text/state')} cannot be written: ${file('text')} is not a folder`,
    )
  })

  test('is named without codes where the database is created', async () => {
    const { stderr } = await cli(['org', 'create', 'acme'], {
      ...installation.env,
      REMIT_DATABASE_URL: `sqlite:${file('text/remit.db')}`,
    })

    expect(stderr).toBe(`remit: ${file('text')} is not a folder\n`)
  })
})

describe('a file that exists', () => {
  const report = ['compliance', 'report', '--framework', 'soc2', '--out']
  test.each([
    ['ledger export', ['ledger', 'export', '--out', 'kept'], 'kept'],
    ['compliance report', [...report, 'kept'], 'kept'],
    ['backup', ['backup', 'copy'], 'copy/manifest.json'],
  ])('is replaced by %s only with --replace', async (_, args, name) => {
    mkdirSync(file('copy'), { recursive: true })
    writeFileSync(file(name), 'kept')
    const ledger = () => cliJson(['ledger', 'checkpoint'], installation.env)
    const before = await ledger()
    const refused = await remit(...args)

    expect(refused).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `remit: ${name} already exists and is not replaced; --replace replaces it\n`,
    })
    expect(readFileSync(file(name), 'utf8')).toBe('kept')
    expect(await ledger()).toEqual(before)
    expect((await remit(...args, '--replace')).code).toBe(0)
    expect(readFileSync(file(name), 'utf8')).not.toBe('kept')
    // The second time, all files of the command exist.
    expect((await remit(...args, '--replace')).code).toBe(0)
  })
})

describe('a relative name', () => {
  test('after @ is below the folder where pnpm was called', async () => {
    const args = ['--scorer', 'regex_match', '--params', '@params.json', 'results.jsonl', '--json']
    const { stdout } = await remit('score', ...args)

    expect(JSON.parse(stdout)).toMatchObject({ aggregate: { mean: 1 } })
  })

  test('of a written file is below the folder where pnpm was called', async () => {
    const { code } = await remit('ledger', 'export', '--out', 'out.ndjson')

    expect(code).toBe(0)
    expect(readFileSync(file('out.ndjson'), 'utf8')).toMatch(/^{"type":"header"/)
  })
})
