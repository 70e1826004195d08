import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { cli, cliJson, createOrg } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

describe('ledger recover, after a backup was restored', () => {
  let installation: Installation
  let env: Installation['env']
  let path: string
  let orgId: string
  const file = (name: string) => join(installation.folder, name)
  const addKey = () => cliJson(['key', 'create', '--role', 'read'], env)
  const keep = async (name: string): Promise<{ size: number }> => {
    const checkpoint = await cliJson<{ note: string; size: number }>(['ledger', 'checkpoint'], env)
    writeFileSync(file(name), checkpoint.note)
    return checkpoint
  }
  const recover = (name: string, ...more: string[]) =>
    cli(
      [
        'ledger',
        'recover',
        '--checkpoint',
        file(name),
        '--reason',
        'disk failed',
        '--json',
        ...more,
      ],
      env,
    )

  beforeAll(async () => {
    installation = await createInstallation()
    env = installation.env
    path = env['REMIT_DATABASE_URL']!.slice('sqlite:'.length)
    orgId = (await createOrg(env)).organization.id
    await keep('old.note')
    copyFileSync(path, file('backup.db'))
    await addKey()
    await addKey()
    await keep('newest.note')
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
    copyFileSync(file('backup.db'), path)
  })
  afterAll(() => installation.remove())

  test('verify says that the restored ledger is behind the checkpoint', async () => {
    const { code, stdout } = await cli(
      ['ledger', 'verify', '--json', '--checkpoint', file('newest.note')],
      env,
    )

    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ status: 'behind_checkpoint' })
  })

  test('a checkpoint that the ledger still holds is refused: nothing is lost', async () => {
    expect(await recover('old.note')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('No entries are lost'),
    })
  })

  test('a checkpoint of another ledger or key is refused', async () => {
    const other = await createInstallation()
    await createOrg(other.env)
    const { note } = await cliJson<{ note: string }>(['ledger', 'checkpoint'], other.env)
    await other.remove()
    writeFileSync(file('foreign.note'), note)

    expect(await recover('foreign.note')).toMatchObject({ code: 1, stdout: '' })
  })

  test.each(['', ' \u00A0\u200B', 'two\nlines'])('the reason %j is refused', async (reason) => {
    expect(await recover('newest.note', '--reason', reason)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('--reason must be one line'),
    })
  })

  test('the entry names the lost range, the checkpoint and the reason, and the chain goes on', async () => {
    const { code, stdout } = await recover('newest.note')
    const entry = await installation.database((db) =>
      db
        .selectFrom('ledger_entry')
        .selectAll()
        .where('kind', '=', 'ledger.recovered')
        .executeTakeFirstOrThrow(),
    )

    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      org_id: orgId,
      seq: 3,
      lost: { from_seq: 3, to_seq: 4 },
      reason: 'disk failed',
    })
    expect(JSON.parse(entry.payload ?? '').data).toMatchObject({
      lost: { from_seq: 3, to_seq: 4 },
      checkpoint: { size: 5, note: expect.stringContaining('\n5\n') },
      reason: 'disk failed',
    })
    expect(await cli(['ledger', 'verify'], env)).toMatchObject({ code: 0 })
  })

  test('verify takes the checkpoint for the loss that is recorded, and not for a change', async () => {
    const verify = () =>
      cli(['ledger', 'verify', '--json', '--checkpoint', file('newest.note')], env)
    const shorter = await verify()
    await addKey()
    await addKey()
    const longer = await verify()
    const text = await cli(['ledger', 'verify', '--checkpoint', file('newest.note')], env)

    for (const { code, stdout } of [shorter, longer]) {
      expect(code).toBe(1)
      expect(JSON.parse(stdout)).toMatchObject({
        status: 'behind_checkpoint',
        recovered: [{ seq: 3, lost: { from_seq: 3, to_seq: 4 } }],
      })
    }
    expect(JSON.parse(longer.stdout)).toMatchObject({
      first_invalid: { seq: 3, code: 'truncated' },
    })
    expect(text.stdout).toContain('entry 3 records that 3 to 4 were lost')
    expect(text.stdout).toContain('lost in a restore from a backup, as entry 3 records')
  })

  test('a loss is recorded once', async () => {
    expect(await recover('newest.note')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('already recorded as entry 3'),
    })
  })

  test('a ledger that has outgrown the checkpoint in another way is told apart from a cut one', async () => {
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
    copyFileSync(file('backup.db'), path)
    await addKey()
    await addKey()
    await addKey()

    expect(await recover('newest.note')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('entries were changed, not only lost'),
    })
    const { stdout } = await cli(
      ['ledger', 'verify', '--json', '--checkpoint', file('newest.note')],
      env,
    )
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'tampered',
      first_invalid: { seq: 4, code: 'checkpoint_root' },
    })
  })
})
