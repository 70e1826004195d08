import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseVerifierKey } from '@remit/core/ledger/proofs'
import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cli, cliJson, createOrg } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

interface Rotation {
  readonly seq: number
  readonly old_vkey: string
  readonly new_vkey: string
  readonly endorsement: string
  readonly checkpoint: string
  readonly others_on_old_key: readonly string[]
}

describe('ledger keygen', () => {
  test('makes a key for its owner only, and never replaces one', async () => {
    const installation = await createInstallation()
    const { folder } = installation
    const path = join(folder, 'keys', 'new.pem')
    const made = await cliJson(['ledger', 'keygen', path], {})
    const pem = readFileSync(path, 'utf8')
    const again = await cli(['ledger', 'keygen', path], {})

    expect(made).toEqual({ file: path, public_key: expect.stringMatching(/^[\w+/]{43}=$/) })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(again).toEqual({
      code: 2,
      stdout: '',
      stderr: `remit: ${path} already exists and is not replaced\n`,
    })
    expect(readFileSync(path, 'utf8')).toBe(pem)
    await installation.remove()
  })
})

describe.each(someDialects())('ledger rotate-key on %s', (dialect) => {
  let installation: Installation
  let env: Installation['env']
  let rotated: Record<string, string>
  let newKey: string
  let before: { readonly note: string; readonly vkey: string }
  let rotation: Rotation
  const verify = (...more: string[]) =>
    cli(['ledger', 'verify', '--org', 'acme', '--json', ...more], rotated)

  beforeAll(async () => {
    installation = await createInstallation(dialect)
    env = installation.env
    newKey = join(installation.folder, 'new-key.pem')
    rotated = { ...env, REMIT_LEDGER_KEY_FILE: newKey }
    await createOrg(env, 'acme')
    await createOrg(env, 'left behind')
    before = await cliJson(['ledger', 'checkpoint', '--org', 'acme'], env)
    await cliJson(['ledger', 'keygen', newKey], env)
    const by = ['--person', 'ada@example.org']
    rotation = await cliJson(
      ['ledger', 'rotate-key', '--org', 'acme', '--new-key', newKey, ...by],
      env,
    )
  })
  afterAll(() => installation.remove())

  test('names both keys; the old one vouches for the new, and signs the entry that says so', () => {
    const old = parseVerifierKey(rotation.old_vkey)

    expect(rotation.old_vkey).toBe(before.vkey)
    expect(rotation.new_vkey).not.toBe(before.vkey)
    expect(old.verify(rotation.new_vkey, Buffer.from(rotation.endorsement, 'base64'))).toBe(true)
    expect(rotation.checkpoint.split('\n')[1]).toBe(String(rotation.seq + 1))
    expect(rotation.others_on_old_key).toHaveLength(1)
  })

  test('from then on only the new key may write', async () => {
    const create = ['key', 'create', '--org', 'acme', '--role', 'read']

    expect(await cli(create, env)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('a different key'),
    })
    expect(await cli(create, rotated)).toMatchObject({ code: 0 })
  })

  test('who trusts the old key or the new one trusts the ledger; no other key does', async () => {
    const other = { ...env, REMIT_LEDGER_KEY_FILE: join(installation.folder, 'left.pem') }
    await cliJson(['org', 'create', 'strange'], other)
    const strange = await cliJson<{ vkey: string }>(
      ['ledger', 'checkpoint', '--org', 'strange'],
      other,
    )

    for (const vkey of [rotation.old_vkey, rotation.new_vkey]) {
      const { code, stdout } = await verify('--vkey', vkey, '--require-anchor')
      expect({ code, report: JSON.parse(stdout) }).toMatchObject({
        code: 0,
        report: { status: 'ok', anchored_by: 'signature', truncation_checked: false },
      })
    }
    expect((await verify('--vkey', strange.vkey)).code).toBe(1)
  })

  test('a checkpoint from before the rotation still holds', async () => {
    const path = join(installation.folder, 'before.note')
    writeFileSync(path, before.note)
    const { code, stdout } = await verify('--checkpoint', path)

    expect({ code, report: JSON.parse(stdout) }).toMatchObject({
      code: 0,
      report: { anchored_by: 'external' },
    })
  })

  test('an export from after it verifies with the old key and the checkpoint that the rotation printed', async () => {
    const path = join(installation.folder, 'export.ndjson')
    const note = join(installation.folder, 'rotation.note')
    await cliJson(['ledger', 'export', '--org', 'acme', '--out', path], rotated)
    writeFileSync(note, rotation.checkpoint)
    const offline = ['ledger', 'verify', '--file', path, '--require-anchor', '--vkey']

    expect((await cli([...offline, rotation.old_vkey, '--checkpoint', note], {})).code).toBe(0)
    expect((await cli([...offline, rotation.new_vkey], {})).code).toBe(0)
  })

  test('the entry names the person who ordered it', async () => {
    const path = join(installation.folder, 'person.ndjson')
    await cliJson(['ledger', 'export', '--org', 'acme', '--out', path], rotated)
    const lines = readFileSync(path, 'utf8').split('\n')

    expect(lines.find((line) => line.includes('ledger.key_rotated'))).toContain('ada@example.org')
  })

  test('is refused with a key that does not sign the ledger, and for the key it has', async () => {
    const again = ['ledger', 'rotate-key', '--org', 'acme', '--new-key', newKey]
    const other = { ...env, REMIT_LEDGER_KEY_FILE: join(installation.folder, 'other.pem') }
    const third = join(installation.folder, 'third.pem')
    await cliJson(['ledger', 'keygen', third], env)

    expect(await cli(again, rotated)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('already signed with this key'),
    })
    expect(
      await cli(['ledger', 'rotate-key', '--org', 'acme', '--new-key', third], other),
    ).toMatchObject({ code: 2, stdout: '' })
    expect(
      await cli(
        ['ledger', 'rotate-key', '--org', 'acme', '--new-key', join(installation.folder, 'none')],
        rotated,
      ),
    ).toMatchObject({ code: 2 })
    expect((await verify()).code).toBe(0)
  })
})

describe('a first start', () => {
  test('makes the ledger key beside the SQLite database', async () => {
    const installation = await createInstallation()
    const { folder } = installation
    await createOrg({ REMIT_DATABASE_URL: `sqlite:${join(folder, 'data', 'remit.db')}` })

    expect(existsSync(join(folder, 'data', 'ledger-key.pem'))).toBe(true)
    await installation.remove()
  })
})
