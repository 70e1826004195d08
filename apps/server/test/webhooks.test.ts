import { createServer as createHttpServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { pino } from 'pino'
import { inFullRun } from '@remit/testing/pure'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { readConfig } from '../src/settings/config.ts'
import { hasModules } from '../src/boot/modules.ts'
import { createServer } from '../src/boot/serve.ts'
import type { RunningServer } from '../src/boot/serve.ts'
import { cliJson } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { request } from './support/process.ts'

const isRun = inFullRun('webhooks of a server') && hasModules()

const WARNING = 'REMIT_ALLOW_LOOPBACK_TARGETS=1: for development and tests only'

// The community edition has no webhooks.
describe.skipIf(!isRun)('webhooks of a server', () => {
  let installation: Installation
  let receiver: Server
  let target: string
  let status: number
  let received: string[]
  let key: string
  const running: RunningServer[] = []
  beforeEach(async () => {
    installation = await createInstallation()
    status = 204
    received = []
    receiver = createHttpServer((message, response) => {
      received.push(message.headers['webhook-id'] as string)
      message.resume().on('end', () => response.writeHead(status).end())
    })
    await new Promise<void>((resolve) => {
      receiver.listen(0, '127.0.0.1', resolve)
    })
    target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  })
  afterEach(async () => {
    for (const server of running.splice(0)) await server.stop()
    await new Promise((resolve) => {
      receiver.close(resolve)
    })
    await installation.remove()
  })

  const env = (loopback: '0' | '1') => ({
    ...installation.env,
    REMIT_BOOTSTRAP_ORG: 'acme',
    REMIT_ALLOW_LOOPBACK_TARGETS: loopback,
  })

  async function start(loopback: '0' | '1'): Promise<{ server: RunningServer; log: string[] }> {
    const log: string[] = []
    const stream = { write: (line: string) => void log.push(line) }
    const server = await createServer(readConfig(env(loopback)), {
      log: pino({ level: 'warn' }, stream),
    })
    running.push(server)
    key = server.first?.secret ?? key
    return { server, log }
  }

  const create = (server: RunningServer) =>
    request(`${server.url}/v1/webhooks`, key, 'POST', { url: target })

  /** Something that a webhook is told of. */
  async function spend(server: RunningServer): Promise<void> {
    await request(`${server.url}/v1/spend-limits/payer`, key, 'POST', { daily_usd: 10 })
    const entry = { action: 'a.b', agent_id: 'payer', cost_usd: 5 }
    await request(`${server.url}/v1/ledger`, key, 'POST', entry)
  }

  const until = async (count: number) => {
    await vi.waitFor(() => expect(received).toHaveLength(count), { timeout: 60_000 })
  }

  test('loopback is no target', async () => {
    const { server, log } = await start('0')

    const refused = await create(server)

    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ errors: [{ path: 'url' }] })
    expect(await (await fetch(`${server.url}/ready`)).text()).not.toContain('LOOPBACK')
    expect(log.join('')).not.toContain('LOOPBACK')
  })

  test('with REMIT_ALLOW_LOOPBACK_TARGETS=1 it is one, which the log and /ready warn of', async () => {
    const { server, log } = await start('1')

    expect((await create(server)).status).toBe(201)
    await spend(server)

    await until(1)
    expect(await (await fetch(`${server.url}/ready`)).json()).toMatchObject({
      warnings: expect.arrayContaining([WARNING]),
    })
    expect(log.join('')).toContain(WARNING)
  })

  test('a command delivers nothing; the next server does', async () => {
    const first = await start('1')
    status = 500
    await create(first.server)
    await spend(first.server)
    await until(1)
    await first.server.stop()
    await installation.database((db) =>
      sql`update webhook_delivery set due_at = '2026-01-01T00:00:00.000Z'`.execute(db),
    )
    status = 204

    await cliJson(['key', 'create', '--org', 'acme', '--role', 'read'], env('1'))
    expect(received).toHaveLength(1)
    await start('1')

    await until(2)
    expect(received[1]).toBe(received[0])
  })
})
