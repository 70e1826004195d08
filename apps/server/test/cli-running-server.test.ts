import { inFullRun, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { cli, cliJson, createOrg } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { remit, request, startServer } from './support/process.ts'
import type { RunningProcess } from './support/process.ts'

const isRun = inFullRun('the command line beside a server')
const DIALECTS = isRun ? someDialects() : []

/** The command line in one process, the server in another, one database. */
describe.each(DIALECTS)('a running server on %s follows the command line', (dialect) => {
  let installation: Installation
  let env: Installation['env']
  let url: string
  let server: RunningProcess

  beforeAll(async () => {
    installation = await createInstallation(dialect)
    env = installation.env
    ;({ url, server } = await startServer(env))
  })
  afterAll(async () => {
    await server.stop()
    await installation.remove()
  })

  const scorers = async (key: string) => (await request(`${url}/v1/scorers`, key)).status
  const authorize = async (key: string, agent_id = 'payer') => {
    const response = await request(`${url}/v1/authorize`, key, 'POST', {
      agent_id,
      action: 'payments.transfer',
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  test('an organization and its keys work from the moment they are made', async () => {
    const { key } = await createOrg(env, 'new here')
    const made = await cliJson<{ key: { secret: string } }>(
      ['key', 'create', '--org', 'new here', '--role', 'read'],
      env,
    )

    expect(await scorers(key.secret)).toBe(200)
    expect(await scorers(made.key.secret)).toBe(200)
  })

  test('a revoked key is refused at its next request', async () => {
    const { key } = await createOrg(env, 'revoking')
    const before = await scorers(key.secret)
    await cliJson(['key', 'revoke', key.id], env)

    expect([before, await scorers(key.secret)]).toEqual([200, 401])
  })

  test('after a rotation only the new key works', async () => {
    const { key } = await createOrg(env, 'rotating')
    const next = await cliJson<{ key: { secret: string } }>(['key', 'rotate', key.id], env)

    expect([await scorers(key.secret), await scorers(next.key.secret)]).toEqual([401, 200])
  })

  describe.skipIf(!hasModules())('in the enterprise edition', () => {
    test('a decision that follows a revocation never goes through, though the key was in memory', async () => {
      const { key } = await createOrg(env, 'deciding')
      const before = await authorize(key.secret)
      await cliJson(['key', 'revoke', key.id], env)

      expect(before).toMatchObject({ status: 200, body: { decision: 'allow' } })
      expect((await authorize(key.secret)).status).toBe(401)
    })

    test('the next decision follows a change of plan', async () => {
      const { key } = await createOrg(env, 'downgraded')
      const before = await authorize(key.secret)
      await cliJson(['org', 'set-plan', 'downgraded', 'free'], env)
      const after = await authorize(key.secret)

      expect(before.status).toBe(200)
      expect(after).toMatchObject({
        status: 403,
        body: { code: 'plan_required', required_plan: 'team' },
      })
    })

    test('a suspended agent is denied until it is resumed, and others are not', async () => {
      const { key } = await createOrg(env, 'stopping')
      await authorize(key.secret)
      await cliJson(
        ['agent', 'suspend', 'payer', '--org', 'stopping', '--reason', 'drains the account'],
        env,
      )
      const suspended = await authorize(key.secret)
      const other = await authorize(key.secret, 'reader')
      await cliJson(['agent', 'resume', 'payer', '--org', 'stopping'], env)

      expect(suspended.body).toMatchObject({ decision: 'deny', reason: 'agent_suspended' })
      expect(suspended.body['message']).toContain('drains the account')
      expect(other.body).toMatchObject({ decision: 'allow' })
      expect((await authorize(key.secret)).body).toMatchObject({ decision: 'allow' })
    })

    test('an agent is suspended without a reason, and with one of any form', async () => {
      const { key } = await createOrg(env, 'stopping at once')
      const suspend = (agent: string, ...options: string[]) =>
        cliJson(['agent', 'suspend', agent, '--org', 'stopping at once', ...options], env)

      expect(await suspend('payer')).toMatchObject({ status: 'suspended', reason: null })
      expect((await authorize(key.secret)).body).toMatchObject({ reason: 'agent_suspended' })
      expect(await suspend('reader', '--reason', ' it\ndrains ')).toMatchObject({
        reason: 'it drains',
      })
    })

    test('an agent that is not suspended cannot be resumed', async () => {
      await createOrg(env, 'nothing to resume')

      expect(
        await cli(['agent', 'resume', 'payer', '--org', 'nothing to resume'], env),
      ).toMatchObject({ code: 1, stdout: '' })
    })
  })

  test('changes and requests that come at once leave a chain that verifies', async () => {
    const { key } = await createOrg(env, 'busy')
    const change = () => cliJson(['key', 'create', '--org', 'busy', '--role', 'read'], env)
    await Promise.all(
      [...Array(10).keys()].flatMap(() => [change(), scorers(key.secret), authorize(key.secret)]),
    )

    const report = await cliJson<{ checked: { entries: number } }>(
      ['ledger', 'verify', '--org', 'busy'],
      env,
    )
    const decided = hasModules() ? 10 : 0
    expect(report).toMatchObject({ status: 'ok' })
    expect(report.checked.entries).toBe(3 + 10 + decided)
  })

  test('the program itself does what the commands promise', async () => {
    const made = await remit(['org', 'create', 'from a process', '--json'], env)
    const { key } = JSON.parse(made.stdout) as { key: { secret: string } }

    expect(made).toMatchObject({ code: 0, stderr: '' })
    expect(await scorers(key.secret)).toBe(200)
  })
})

describe.skipIf(!isRun)('without commercial modules', () => {
  test('an agent cannot be suspended, and the reason is said', async () => {
    const installation = await createInstallation()
    const env = { ...installation.env, REMIT_EVALUATION: '0' }
    await createOrg(env)
    const refused = await cli(['agent', 'suspend', 'payer', '--reason', 'x'], env)
    await installation.remove()

    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toMatch(/^remit: Agents cannot be suspended in this edition\. .+\n$/)
  })
})
