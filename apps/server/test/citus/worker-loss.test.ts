import { createServer as createHttpServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verifyDatabase } from '@remit/core/ledger/records'
import { organizationPage } from '@remit/core/orgs'
import { createClock } from '@remit/testing'
import type { PostgresNode } from '@remit/testing'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createServer } from '../../src/boot/serve.ts'
import type { RunningServer } from '../../src/boot/serve.ts'
import { readConfig } from '../../src/settings/config.ts'
import { createOrg } from '../support/cli.ts'
import { request } from '../support/process.ts'
import { distributed, runsOnCitus } from './cluster.ts'
import type { Distributed } from './cluster.ts'

const WAIT = { timeout: 60_000, interval: 100 }
const DAY_MS = 24 * 60 * 60 * 1000

/** An organization with one of everything that background work and revocations touch. */
interface Organization {
  readonly id: string
  readonly name: string
  readonly key: string
  readonly spare: { readonly id: string; readonly secret: string }
  readonly credential: { readonly id: string; readonly secret: string }
  readonly answered: { seq: number; hash: string }[]
}

interface Refusal {
  readonly organization: Organization
  readonly status: number
  readonly retryAfter: string | null
}

describe.skipIf(!runsOnCitus)('a lost worker', () => {
  const clock = createClock(new Date().toISOString())
  const received: string[] = []
  let installation: Distributed
  let receiver: Server
  /** One at the coordinator that decides on the workers, one beside the worker that stays. */
  let servers: RunningServer[] = []
  let lost: Organization[]
  let kept: Organization[]

  const call = (url: string, path: string, key: string, method = 'GET', body?: object) =>
    request(url + path, key, method, body)
  const ok = async <T>(response: Response): Promise<T> => {
    const text = await response.text()
    expect(response.ok, text).toBe(true)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }
  const decide = (url: string, key: string, agent_id = 'payer', action = 'files.read') =>
    call(url, '/v1/authorize', key, 'POST', { agent_id, action, context: { amount_usd: 1 } })
  const kinds = async ({ key }: Organization, kind: string): Promise<number> => {
    const { data } = await ok<{ data: unknown[] }>(
      await call(servers[0]?.url ?? '', `/v1/ledger?kind=${kind}&limit=1000`, key),
    )
    return data.length
  }

  async function create(url: string, name: string): Promise<Organization> {
    const { organization, key } = await createOrg(installation.env, name)
    const admin = key.secret
    await ok(await call(url, '/v1/spend-limits/payer', admin, 'POST', { daily_usd: 1e6 }))
    await ok(
      await call(url, '/v1/approval-rules/large', admin, 'POST', { actions: ['payments.*'] }),
    )
    const target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/${organization.id}`
    await ok(await call(url, '/v1/webhooks', admin, 'POST', { url: target }))
    const spare = await ok<{ key: { id: string }; secret: string }>(
      await call(url, '/v1/keys', admin, 'POST', { role: 'admin' }),
    )
    await ok(
      await call(url, '/v1/identity/agents', admin, 'POST', {
        agent_id: 'robot',
        owners: [{ type: 'user', id: 'owner@example.org' }],
      }),
    )
    const credential = await ok<{ credential: { id: string }; secret: string }>(
      await call(url, '/v1/identity/agents/robot/credentials', admin, 'POST', {
        scopes: ['authorize'],
      }),
    )
    return {
      id: organization.id,
      name,
      key: admin,
      spare: { id: spare.key.id, secret: spare.secret },
      credential: { id: credential.credential.id, secret: credential.secret },
      answered: [],
    }
  }

  beforeAll(async () => {
    installation = await distributed()
    receiver = createHttpServer((message, response) => {
      received.push((message.url ?? '').slice(1))
      message.resume().on('end', () => response.writeHead(204).end())
    })
    await new Promise<void>((resolve) => {
      receiver.listen(0, '127.0.0.1', resolve)
    })
    const { cluster, env } = installation
    const start = (database: string, more: Record<string, string> = {}) =>
      createServer(
        readConfig({
          ...env,
          ...more,
          REMIT_DATABASE_URL: database,
          REMIT_DATABASE_DIRECT_URL: cluster.coordinator.url,
        }),
        { log: pino({ level: 'silent' }), clock, watchEveryMs: 200 },
      )
    servers = [
      await start(cluster.coordinator.url, { REMIT_DATABASE_NODES: '1' }),
      await start(cluster.workers[1]?.url ?? cluster.coordinator.url),
    ]
    lost = []
    kept = []
    for (let i = 0; lost.length < 2 || kept.length < 2; i++) {
      const made = await create(servers[i % 2]?.url ?? '', `organization ${i}`)
      const node = await installation.nodeOf(made.id)
      ;(node === cluster.workers[0] ? lost : kept).push(made)
    }
  })
  afterAll(async () => {
    for (const server of servers) await server.stop()
    await new Promise((resolve) => {
      receiver.close(resolve)
    })
    await installation.remove()
  })

  /** Asks every server for decisions of every organization; returns the refusals. */
  async function ask(organizations: readonly Organization[]): Promise<Refusal[]> {
    const refused: Refusal[] = []
    await Promise.all(
      organizations.flatMap((organization) =>
        servers.map(async ({ url }) => {
          const response = await decide(url, organization.key)
          if (response.ok) {
            const { ledger } = (await response.json()) as {
              ledger: { seq: number; hash: string }
            }
            organization.answered.push(ledger)
          } else {
            const { status, headers } = response
            refused.push({ organization, status, retryAfter: headers.get('retry-after') })
          }
        }),
      ),
    )
    return refused
  }

  async function askOften(organizations: readonly Organization[]): Promise<Refusal[]> {
    const refused: Refusal[] = []
    for (let round = 0; round < 20; round++) refused.push(...(await ask(organizations)))
    return refused
  }

  /** Sessions of servers on a node that ran decisions; those of the cluster have another name. */
  const decidingAt = async (node: PostgresNode) =>
    Number(
      await node.ask(`select count(*) from pg_stat_activity
        where application_name = 'remit' and query = 'commit'`),
    )

  test('a server with REMIT_DATABASE_NODES decides on the workers', async () => {
    const [first] = installation.cluster.workers
    if (!first) throw new Error('no worker')
    expect(await decidingAt(first)).toBe(0)
    await vi.waitUntil(async () => {
      expect(await ask([...lost, ...kept])).toEqual([])
      return (await decidingAt(first)) > 0
    }, WAIT)
  })

  test('a decision survives the loss of such a connection', async () => {
    const [first] = installation.cluster.workers
    const load = askOften(lost)
    for (let i = 0; i < 10; i++)
      await first?.run(`select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'remit'`)

    expect(await load).toEqual([])
  })

  test('costs its own organizations 503, and the others nothing', async () => {
    expect(await ask([...lost, ...kept])).toEqual([])
    // Expires while the worker is gone.
    for (const { key } of [...lost, ...kept])
      await ok(await decide(servers[0]?.url ?? '', key, 'payer', 'payments.transfer'))
    const load = askOften([...lost, ...kept])
    await ask(kept)
    await installation.cluster.workers[0]?.kill()
    for (const { organization, status } of await load) {
      expect(lost).toContain(organization)
      expect(status).toBe(503)
    }
    received.length = 0
    clock.advance(2 * DAY_MS)

    for (let round = 0; round < 5; round++) {
      const refused = await ask([...lost, ...kept])
      expect(refused.map(({ status }) => status)).toEqual(Array(2 * lost.length).fill(503))
      expect(refused.every(({ organization }) => lost.includes(organization))).toBe(true)
      expect(refused.every(({ retryAfter }) => Number(retryAfter) > 0)).toBe(true)
    }
    for (const { url } of servers) {
      for (const { key } of lost) expect((await call(url, '/v1/keys', key)).status).toBe(503)
      expect((await fetch(`${url}/ready`)).status).toBe(200)
    }
  })

  test('a server that starts meanwhile serves the others', async () => {
    const { cluster, env } = installation
    const config = readConfig({
      ...env,
      REMIT_DATABASE_URL: cluster.coordinator.url,
      REMIT_BOOTSTRAP_ORG: lost[0]?.name,
    })
    const started = await createServer(config, { log: pino({ level: 'silent' }), clock })
    const [unavailable, served] = [lost[0]?.key ?? '', kept[0]?.key ?? '']

    expect((await decide(started.url, unavailable)).status).toBe(503)
    expect((await decide(started.url, served)).status).toBe(200)
    await started.stop()
  })

  test('fails the pages of the list of organizations that have one of its own', async () => {
    const ids = [...lost, ...kept].map(({ id }) => id).toSorted()
    const pages = await Promise.allSettled(
      ids.map((_, i) => organizationPage(installation.db, 1, ids[i - 1])),
    )
    const shown = pages.map((page) => page.status === 'fulfilled' && page.value.rows[0]?.id)
    expect(shown).toEqual(ids.map((id) => kept.some((one) => one.id === id) && id))
  })

  test('keys and credentials of the others are created, and revoked at once', async () => {
    for (const [i, organization] of kept.entries()) {
      const at = servers[i % 2]?.url ?? ''
      const other = servers[(i + 1) % 2]?.url ?? ''
      const { key, spare, credential } = organization
      expect((await decide(other, spare.secret)).status).toBe(200)
      expect((await decide(other, credential.secret, 'robot')).status).toBe(200)

      await ok(await call(at, `/v1/keys/${spare.id}`, key, 'DELETE'))
      await ok(await call(at, `/v1/identity/credentials/${credential.id}`, key, 'DELETE'))
      const made = await ok<{ secret: string }>(
        await call(at, '/v1/keys', key, 'POST', { role: 'admin' }),
      )

      for (const { url } of servers) {
        expect((await decide(url, spare.secret)).status).toBe(401)
        expect((await decide(url, credential.secret, 'robot')).status).toBe(401)
        expect((await decide(url, made.secret)).status).toBe(200)
      }
    }
  })

  test('webhooks, sweeps and heartbeats of the others go on', async () => {
    for (const organization of kept) {
      await vi.waitUntil(async () => (await kinds(organization, 'ledger.heartbeat')) > 0, WAIT)
      await vi.waitUntil(async () => (await kinds(organization, 'approval.expired')) > 0, WAIT)
      await vi.waitUntil(() => received.includes(organization.id), WAIT)
    }
    expect(received).not.toEqual([])
  })

  test('after its return, every ledger verifies and has every answered decision', async () => {
    await installation.cluster.workers[0]?.start()
    await vi.waitUntil(async () => (await ask(lost)).length === 0, WAIT)
    expect(await ask([...lost, ...kept])).toEqual([])

    for (const organization of lost) {
      await vi.waitUntil(async () => (await kinds(organization, 'approval.expired')) > 0, WAIT)
      await vi.waitUntil(() => received.includes(organization.id), WAIT)
    }
    for (const { id, answered } of [...lost, ...kept]) {
      expect(await verifyDatabase(installation.db, id)).toMatchObject({
        status: 'ok',
        error_count: 0,
      })
      const rows = await installation.db
        .selectFrom('ledger_entry')
        .select(['seq', 'hash'])
        .where('org_id', '=', id)
        .execute()
      const hashes = new Map(rows.map(({ seq, hash }) => [seq, hash]))
      expect(answered.length).toBeGreaterThan(0)
      expect(answered.filter(({ seq, hash }) => hashes.get(seq) !== hash)).toEqual([])
    }
  })
})
