import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProgram } from '../src/cli/program.ts'
import { CommandRun } from '../src/cli/session.ts'
import { ENVIRONMENT } from '../src/settings/environment.ts'
import { cli, createOrg } from './support/cli.ts'
import { commandsOf } from './support/commands.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { remit } from './support/process.ts'

let installation: Installation
let env: Installation['env']

beforeAll(async () => {
  installation = await createInstallation('sqlite', { hasTables: false })
  env = installation.env
})
afterAll(() => installation.remove())

const session = new CommandRun(
  {
    env: {},
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    endSignal: () => new AbortController().signal,
  },
  false,
)

describe('the command line', () => {
  test('takes --json on every command', () => {
    const commands = commandsOf(createProgram(session))

    expect(commands.length).toBeGreaterThan(20)
    for (const { usage, options } of commands) expect(options, usage).toContain('--json')
  })

  test.each([
    [['orgg'], "remit: unknown command 'orgg' (Did you mean org?)\n"],
    [['hook', 'codex', '--timeout', '60'], /`remit-sdk hook codex`/],
    [['org', 'list', '--wide'], "remit: unknown option '--wide'\n"],
    [['org', 'create'], "remit: missing required argument 'name'\n"],
    [
      ['org', 'create', 'x', '--plan', 'gold'],
      /^remit: option '--plan <plan>' argument 'gold' is invalid\. Allowed choices are free, team, enterprise\.\n$/,
    ],
    [['org', 'set-plan', 'x', 'gold'], /Allowed choices are free, team, enterprise\.\n$/],
    [['key', 'create'], "remit: required option '--role <role>' not specified\n"],
    [['ledger', 'verify', '--org', 'a', '--file', 'b'], /cannot be used with/],
  ])('answers %j with one line and exit code 2', async (args, message) => {
    const { code, stdout, stderr } = await cli(args, env)

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(stderr).toMatch(message)
  })

  test.each([[[]], [['ledger', 'verify']]])(
    '%j --help names the setting of the database',
    async (args) => {
      const { code, stdout } = await cli([...args, '--help'], env)

      expect(code).toBe(0)
      expect(stdout).toContain('REMIT_DATABASE_URL')
      expect(stdout).toContain('REMIT_KEY')
    },
  )

  test('serve --help lists every setting with what it is for', async () => {
    const { stdout } = await cli(['serve', '--help'], env)

    for (const name of Object.keys(ENVIRONMENT.shape))
      expect(stdout).toMatch(new RegExp(`^  ${name} +\\S`, 'm'))
  })

  test('shows the commands of a group on standard error when one is missing', async () => {
    const { code, stdout, stderr } = await cli(['ledger'], env)

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('rotate-key')
  })

  test('shows help and version on standard output, with exit code 0', async () => {
    expect(await cli(['ledger', 'verify', '--help'], env)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('--require-anchor'),
      stderr: '',
    })
    expect(await cli(['--version'], env)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+/),
      stderr: '',
    })
  })

  test('with --json an error is one JSON line on standard error', async () => {
    const { code, stdout, stderr } = await cli(['key', 'revoke', 'key_none', '--json'], env)

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(JSON.parse(stderr)).toEqual({
      error: { message: 'The key key_none does not exist or is revoked', exit_code: 1 },
    })
  })
})

describe('what cannot run', () => {
  test('a database that is not there, for a command that only reads: 2, and none is made', async () => {
    const path = join(installation.folder, 'none.db')
    const refused = await cli(['org', 'list'], { REMIT_DATABASE_URL: `sqlite:${path}` })

    expect(refused).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `remit: The database ${path} does not exist; REMIT_DATABASE_URL names another one\n`,
    })
    expect(readdirSync(installation.folder)).not.toContain('none.db')
  })

  test('a database without tables: 2, and what makes them', async () => {
    const path = join(installation.folder, 'empty.db')
    writeFileSync(path, '')
    const refused = await cli(['org', 'list'], { REMIT_DATABASE_URL: `sqlite:${path}` })

    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('`remit migrate`')
  })

  test('a database that cannot be reached: 2, without its address or password', async () => {
    const refused = await cli(['org', 'list'], {
      REMIT_DATABASE_URL: 'postgres://remit:swordfish@127.0.0.1:1/none',
    })

    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(/^remit: The database cannot be used: .*ECONNREFUSED.*\n$/)
    expect(refused.stderr).not.toContain('swordfish')
  })

  test('a bad setting: 78, with its name', async () => {
    const refused = await cli(['org', 'list'], { REMIT_PORT: 'eighty' })

    expect(refused).toMatchObject({ code: 78, stdout: '' })
    expect(refused.stderr).toContain('REMIT_PORT')
  })

  test('a ledger key that is none: 78, with the name of the setting', async () => {
    const path = join(installation.folder, 'not-a-key.pem')
    writeFileSync(path, 'nothing')
    const refused = await cli(['org', 'create', 'keyless'], { ...env, REMIT_LEDGER_KEY_FILE: path })

    expect(refused).toMatchObject({ code: 78, stdout: '' })
    expect(refused.stderr).toMatch(/^remit: REMIT_LEDGER_KEY_FILE: .+\n$/)
  })

  test('a ledger that is signed with another key: 2, and nothing is written', async () => {
    await createOrg(env, 'signed')
    const other = { ...env, REMIT_LEDGER_KEY_FILE: join(installation.folder, 'other-key.pem') }
    const refused = await cli(['key', 'create', '--org', 'signed', '--role', 'read'], other)
    const { stdout } = await cli(['key', 'list', '--org', 'signed', '--json'], env)

    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('a different key')
    expect((JSON.parse(stdout) as { keys: unknown[] }).keys).toHaveLength(1)
  })

  test('the process says it in one line, without a stack, and ends with the same code', async () => {
    const ended = await remit(['org', 'list'], {
      REMIT_DATABASE_URL: 'postgres://remit@127.0.0.1:1/none',
    })

    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(ended.stderr).not.toMatch(/\bat .+:\d+/)
  })
})

describe('migrate', () => {
  test('makes the tables, says which, and does nothing the second time', async () => {
    const fresh = await createInstallation('sqlite', { hasTables: false })
    const first = await cli(['migrate', '--json'], fresh.env)
    const second = await cli(['migrate', '--json'], fresh.env)
    await fresh.remove()

    expect(JSON.parse(first.stdout)).toEqual({
      migrated: expect.arrayContaining(['core/0001_foundation']),
    })
    expect(JSON.parse(second.stdout)).toEqual({ migrated: [] })
  })
})
