import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from '../support/server.ts'
import type { RemitServer } from '../support/server.ts'
import { CallFile } from './support/call-file.ts'
import { startGateway } from './support/http.ts'

const SERVER = [join(import.meta.dirname, 'support/lax-server.ts')]
const HANDSHAKE = {
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  },
}

describe.skipIf(!hasModules())('the event stream of a session', () => {
  const file = new CallFile()
  const env = { CALLS: file.path, LISTS: '[[]]' }
  let remit: RemitServer
  let gateway: Awaited<ReturnType<typeof startGateway>>
  beforeAll(async () => {
    remit = await startRemit()
    gateway = await startGateway(remit, {
      agent: 'tester',
      upstreams: { lax: { command: process.execPath, args: SERVER, env } },
    })
  })
  afterAll(async () => {
    await gateway?.stop()
    await remit.stop()
    file.remove()
  })

  const ask = (init: RequestInit, session: Record<string, string>) =>
    fetch(`${gateway.url}/mcp/lax`, {
      ...init,
      headers: {
        authorization: `Bearer ${remit.org.key}`,
        'content-type': 'application/json',
        accept: init.method === 'POST' ? 'application/json' : 'text/event-stream',
        ...session,
      },
    })
  const post = (message: object, session = {}) =>
    ask({ method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', ...message }) }, session)

  it('is opened anew while the gateway still has the one before, and gets what comes', async () => {
    const begun = await post(HANDSHAKE)
    await begun.text()
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' }
    await post({ method: 'notifications/initialized' }, session)
    const open = () => ask({ method: 'GET' }, session)
    const streams = [await open(), await open(), await open()]
    const newest = streams.at(-1)?.body?.getReader()

    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200])
    // Those before have ended.
    expect(await Promise.all(streams.slice(0, 2).map((one) => one.text()))).toEqual(['', ''])
    await (await post({ id: 1, method: 'tools/list' }, session)).text()
    const { value } = (await newest?.read()) ?? {}
    expect(Buffer.from(value ?? []).toString()).toContain('notifications/tools/list_changed')
    await newest?.cancel()
    const next = await open()
    expect(next.status).toBe(200)
    await next.body?.cancel()
  })
})
