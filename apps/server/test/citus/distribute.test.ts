import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createServer } from '../../src/boot/serve.ts'
import type { RunningServer } from '../../src/boot/serve.ts'
import { readConfig } from '../../src/settings/config.ts'
import { cli, cliJson, createOrg } from '../support/cli.ts'
import { request } from '../support/process.ts'
import { distributed, runsOnCitus } from './cluster.ts'
import type { Distributed } from './cluster.ts'

interface Organization {
  readonly id: string
  readonly name: string
  readonly key: string
  /** A key that was revoked before. */
  readonly revoked: string
  /** A request for an approval. */
  readonly waiting: string
}

interface Decision {
  readonly decision: string
  readonly approval?: { readonly id: string }
}

const NAMES = ['acme', 'globex', 'initech', 'umbrella']
const serve = (env: Distributed['env']) =>
  createServer(readConfig(env), { log: pino({ level: 'silent' }) })

describe.skipIf(!runsOnCitus)('`remit distribute` on a database with data', () => {
  const organizations: Organization[] = []
  let refused: Awaited<ReturnType<typeof cli>>
  let answeredMeanwhile: string
  let installation: Distributed
  let server: RunningServer

  async function ok<T>(key: string, path: string, method = 'GET', body?: object): Promise<T> {
    const response = await request(server.url + path, key, method, body)
    const text = await response.text()
    expect(response.ok, `${path}: ${text}`).toBe(true)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }
  const decide = (key: string, action: string, amount_usd = 0.01) =>
    ok<Decision>(key, '/v1/authorize', 'POST', {
      agent_id: 'payer',
      action,
      context: { amount_usd },
    })

  async function fill(env: Distributed['env'], name: string): Promise<Organization> {
    const { organization, key } = await createOrg(env, name)
    const admin = key.secret
    await ok(admin, '/v1/spend-limits/payer', 'POST', { daily_usd: 100 })
    await ok(admin, '/v1/policies', 'POST', { effect: 'deny', actions: ['db.*'] })
    await ok(admin, '/v1/approval-rules/large', 'POST', { actions: ['wire.*'] })
    const other = await ok<{ key: { id: string }; secret: string }>(admin, '/v1/keys', 'POST', {
      role: 'admin',
    })
    await ok(admin, `/v1/keys/${other.key.id}`, 'DELETE')
    await decide(admin, 'payments.transfer', 60)
    for (let i = 0; i < 300; i++) await decide(admin, 'files.read')
    const { approval } = await decide(admin, 'wire.out')
    const waiting = approval?.id ?? ''
    return { id: organization.id, name, key: admin, revoked: other.secret, waiting }
  }

  beforeAll(async () => {
    installation = await distributed(async (env) => {
      server = await serve(env)
      for (const name of NAMES) organizations.push(await fill(env, name))
      refused = await cli(['distribute'], env)
      answeredMeanwhile = (await decide(organizations[0]?.key ?? '', 'files.read')).decision
      await server.stop()
    })
    server = await serve(installation.env)
  }, 300_000)
  afterAll(async () => {
    await server.stop()
    await installation.remove()
  })

  test('is refused while a server is connected, and changes nothing', () => {
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toMatch(/Stop all servers first: the database has connections: \d+ of/)
    expect(answeredMeanwhile).toBe('allow')
  })

  test('spreads the shards of the organizations over the workers', async () => {
    const nodes = await installation.cluster.coordinator.ask(
      "select count(distinct nodeport) from citus_shards where table_name = 'ledger_head'::regclass",
    )

    expect(Number(nodes)).toBe(installation.cluster.workers.length)
  })

  test('keeps rules, spend, keys and pending approvals', async () => {
    for (const { key, revoked, waiting } of organizations) {
      expect(await decide(key, 'db.drop')).toMatchObject({
        decision: 'deny',
        reason: 'policy_deny',
      })
      expect(await decide(key, 'payments.transfer', 60)).toMatchObject({ decision: 'deny' })
      expect((await request(`${server.url}/v1/keys`, revoked)).status).toBe(401)
      const approved = await ok<{ status: string }>(
        key,
        `/v1/approvals/${waiting}/decide`,
        'POST',
        {
          decision: 'approve',
          comment: 'checked',
        },
      )
      expect(approved.status).toBe('approved')
    }
  })

  test('every ledger continues and verifies, and its spend is that of its entries', async () => {
    for (const { key, name } of organizations) {
      await decide(key, 'files.read')
      expect(await cli(['ledger', 'verify', '--org', name], installation.env)).toMatchObject({
        code: 0,
      })
      expect(await cliJson(['spend', 'rebuild', '--org', name], installation.env)).toMatchObject({
        complete: true,
        differences: [],
      })
    }
  })

  test('names stay unique, and new organizations get keys', async () => {
    const again = await cli(['org', 'create', NAMES[0] ?? ''], installation.env)
    const { key } = await createOrg(installation.env, 'newcomer')

    expect(again.code).not.toBe(0)
    expect((await decide(key.secret, 'files.read')).decision).toBe('allow')
  })
})
