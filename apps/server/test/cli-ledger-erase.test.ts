import { inFullRun, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { cli, cliJson, createOrg } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { oldLedger } from './support/old-ledger.ts'
import { request, startServer } from './support/process.ts'

const isRun = inFullRun('erasure on the command line')

describe.skipIf(!isRun).each(someDialects())('ledger erase on %s', (dialect) => {
  let installation: Installation
  let env: Installation['env']
  let orgId: string

  beforeAll(async () => {
    installation = await createInstallation(dialect)
    env = installation.env
    orgId = await oldLedger(installation)
  })
  afterAll(() => installation.remove())

  const erase = (...args: string[]) => cli(['ledger', 'erase', '--org', orgId, ...args], env)
  const rowOf = (seq: number) =>
    installation.database((db) =>
      db
        .selectFrom('ledger_entry')
        .selectAll()
        .where('org_id', '=', orgId)
        .where('seq', '=', seq)
        .executeTakeFirstOrThrow(),
    )

  test('erases what entries say, says where that is recorded, and the ledger verifies', async () => {
    const done = await cliJson(
      [
        'ledger',
        'erase',
        '--org',
        orgId,
        '--seq',
        '13',
        '5',
        '--reason',
        'request no. 7',
        '--person',
        'ada@example.org',
      ],
      env,
    )
    const record = await rowOf(14)

    expect(done).toEqual({ org_id: orgId, seq: 14, seqs: [5, 13], log_emptied: true })
    expect(await rowOf(13)).toMatchObject({ payload: null, salt: null, actor_id: null })
    expect(record.kind).toBe('ledger.erased')
    expect(JSON.parse(record.payload ?? '')).toMatchObject({
      actor: { type: 'system', id: 'remit' },
      data: { seqs: [5, 13], reason: 'request no. 7', person: 'ada@example.org' },
    })
    expect(await cliJson(['ledger', 'verify', '--org', orgId, '--deep'], env)).toMatchObject({
      status: 'ok',
      redacted: 2,
    })
    const text = await erase('--seq', '6', '--reason', 'again')
    expect(text).toMatchObject({ code: 0, stderr: '' })
    expect(text.stdout).toMatch(/^Erased: 6\. Recorded as entry 15\./)
  })

  test.each([
    [['--seq', '900', '--reason', 'x'], 1, 'Nothing was erased: entry 900 is not in the ledger'],
    [['--seq', '5', '--reason', 'x'], 1, 'Nothing was erased: entry 5 is already erased'],
    [['--seq', '0', '7', '--reason', 'x'], 1, 'entry 0 has the kind ledger.genesis'],
    [['--seq', '-1', '--reason', 'x'], 2, '--seq must be a whole number; given: -1'],
    [['--seq', 'all', '--reason', 'x'], 2, '--seq must be a whole number; given: all'],
    [['--seq', '7', '--reason', ''], 2, '--reason must be one line of 1 to 500 characters'],
    [['--seq', '7', '--reason', ' \u00A0\u200B'], 2, '--reason must be one line of 1 to 500'],
    [['--seq', '7', '--reason', 'x', '--person', 'ada'], 2, '--person must be an e-mail address'],
    [['--seq', '7'], 2, "required option '--reason <text>' not specified"],
    [['--reason', 'x'], 2, "required option '--seq <seq...>' not specified"],
  ])('refuses %j', async (args, code, message) => {
    const refused = await erase(...args)

    expect(refused).toMatchObject({ code, stdout: '' })
    expect(refused.stderr).toContain(message)
    expect((await rowOf(7)).payload).not.toBeNull()
  })

  test.skipIf(!hasModules())('a running server shows nothing of it from then on', async () => {
    const { url, server } = await startServer(env)
    const { key, organization } = await createOrg(env, 'served')
    const read = async (path: string) => {
      const response = await request(`${url}/v1/ledger${path}`, key.secret)
      return JSON.parse(await response.text()) as Record<string, unknown>
    }
    const sent = { action: 'mail.sent', agent_id: 'mailer', metadata: { to: 'Erika' } }
    const appended = await request(`${url}/v1/ledger`, key.secret, 'POST', sent)
    const { seq } = (await appended.json()) as { seq: number }
    const before = await read(`/${seq}`)

    await cliJson(
      ['ledger', 'erase', '--org', 'served', '--seq', String(seq), '--reason', 'x'],
      env,
    )

    expect(before).toMatchObject({ data: { metadata: { to: 'Erika' } } })
    expect(await read(`/${seq}`)).toMatchObject({ seq, data: null, agent_id: null, salt: null })
    expect(await read('?agent_id=mailer')).toMatchObject({ data: [] })
    expect(await request(`${url}/v1/ledger`, key.secret, 'POST', sent)).toMatchObject({
      status: 201,
    })
    expect(await cliJson(['ledger', 'verify', '--org', organization.id], env)).toMatchObject({
      status: 'ok',
      redacted: 1,
    })
    await server.stop()
  })
})
