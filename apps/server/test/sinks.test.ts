import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { generateKey } from '@remit/core/keys'
import { fullDialects, inFullRun, runs } from '@remit/testing'
import { sql } from 'kysely'
import { describe, expect, it, vi } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { createInstallation } from './support/installation.ts'
import { request, startServer } from './support/process.ts'

const isRun = inFullRun('killing servers') && hasModules()

const PATIENCE = { timeout: 60_000, interval: 50 }
const key = generateKey().secret
const settings = {
  REMIT_BOOTSTRAP_KEY: key,
  REMIT_RATE_LIMIT: '0',
  REMIT_LOG_LEVEL: 'silent',
  REMIT_ALLOW_LOOPBACK_TARGETS: '1',
}

interface Line {
  readonly seq: number
}

/** Reads batches and answers them as `answers` says; a batch without an answer hangs. */
async function startReceiver() {
  const received: number[] = []
  const state = { answers: true, waiting: 0 }
  const server = createServer((message, response) => {
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.on('end', () => {
      const lines = Buffer.concat(chunks).toString('utf8').trimEnd().split('\n')
      received.push(...lines.map((line) => (JSON.parse(line) as Line).seq))
      if (state.answers) response.writeHead(200).end()
      else state.waiting += 1
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const close = () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  }
  return { url, received, state, close }
}

// The community edition has no sinks.
describe.skipIf(!isRun).each(fullDialects())('a sink on %s', (dialect) => {
  it('misses nothing and keeps the order when the server is killed while it sends', async () => {
    const installation = await createInstallation(dialect)
    const env = { ...installation.env, ...settings }
    const receiver = await startReceiver()
    let { url, server } = await startServer(env)
    const created = await request(`${url}/v1/sinks`, key, 'POST', {
      type: 'https',
      target: { url: receiver.url },
      from_seq: 0,
    })
    const { id } = (await created.json()) as { id: string }
    const append = async (count: number) => {
      for (let i = 0; i < count; i++)
        expect((await request(`${url}/v1/ledger`, key, 'POST', { action: 'a.b' })).status).toBe(201)
    }

    for (let kills = 1; kills <= runs(2, 1); kills++) {
      await append(10)
      receiver.state.answers = false
      await append(10)
      await vi.waitUntil(() => receiver.state.waiting >= kills, PATIENCE)
      await server.stop('SIGKILL')
      receiver.state.answers = true
      // As if the lease of the killed process had run out.
      await installation.database((db) => sql`update sink set held_until = 0`.execute(db))
      ;({ url, server } = await startServer(env))
    }
    await append(10)
    await vi.waitFor(async () => {
      const sink = await request(`${url}/v1/sinks/${id}`, key, 'GET')
      expect(await sink.json()).toMatchObject({ lag_entries: 0 })
    }, PATIENCE)

    const last = Math.max(...receiver.received)
    const first = [...new Set(receiver.received)]
    expect(first).toEqual(Array.from({ length: last + 1 }, (_, seq) => seq))
    expect(receiver.received.length).toBeGreaterThan(first.length)
    await server.stop()
    await receiver.close()
    await installation.remove()
  })
})
