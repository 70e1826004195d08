import { rmSync, writeFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { run } from '@remit/mcp'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasModules } from '../support/server.ts'
import { CallFile } from './support/call-file.ts'
import { ownProgram } from './support/gateway.ts'
import { startCounting, startGateway } from './support/http.ts'
import { call, envelope } from './support/messages.ts'
import { RawGateway } from './support/raw.ts'
import { startRuled } from './support/ruled.ts'
import type { Ruled } from './support/ruled.ts'

const SERVER = [ownProgram('counting-server')]
const TIMEOUT = { timeout: 60_000 }
const BOTH = 'application/json, text/event-stream'
const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
}

describe.skipIf(!hasModules())('the gateway', () => {
  const file = new CallFile()
  let remit: Ruled
  let server: Awaited<ReturnType<typeof startCounting>>
  let gateway: Awaited<ReturnType<typeof startGateway>>
  let usd = 100
  beforeAll(async () => {
    remit = await startRuled()
    server = await startCounting()
    gateway = await startGateway(remit, {
      agent: 'tester',
      limits: { keep_alive_seconds: 601 },
      upstreams: { remote: { url: server.url } },
    })
  })
  afterAll(async () => {
    await gateway?.stop()
    await server?.stop()
    await remit.stop()
    file.remove()
  })
  beforeEach(() => {
    usd++
    file.clear()
    server.calls.length = 0
  })
  afterEach(() => remit.rejectAll())

  const post = (
    message: object,
    headers: Record<string, string> = {},
    signal: AbortSignal | null = null,
  ) =>
    fetch(`${gateway.url}/mcp/remote`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${remit.org.key}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, ...message }),
      signal,
    })
  const initialize = { method: 'initialize', params: INITIALIZE }
  const session = async () => {
    const response = await post(initialize, { accept: BOTH })
    await response.text()
    return { accept: BOTH, 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' }
  }
  const modern = (name: string) => ({
    accept: BOTH,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': name,
  })
  const pay = (more: object = {}) => ({
    method: 'tools/call',
    params: { ...call('pay', { usd }), ...more },
  })
  const isPending = () => expect.poll(remit.pending, TIMEOUT).toHaveLength(1)
  /** The calls that ran when the approval is closed. */
  const callsOnceClosed = async () => {
    await expect.poll(remit.pending, TIMEOUT).toEqual([])
    const { data } = await remit.client.listApprovals({ query: { status: 'cancelled', limit: 1 } })
    if (data.length === 0) throw new Error('The approval is not cancelled.')
    return [...server.calls, ...file.calls]
  }

  describe('does not run a call, and closes its approval, where the client has gone while it waited', () => {
    it('on HTTP, of 2025-11-25', async () => {
      const left = new AbortController()
      const waiting = post(pay(), await session(), left.signal).catch(() => null)
      await isPending()
      left.abort()
      await waiting
      expect(await callsOnceClosed()).toEqual([])
    })

    it('on HTTP, of 2026-07-28', async () => {
      const left = new AbortController()
      const waiting = post(pay(envelope()), modern('pay'), left.signal).catch(() => null)
      await isPending()
      left.abort()
      await waiting
      expect(await callsOnceClosed()).toEqual([])
    })

    it('by a cancellation', async () => {
      const headers = await session()
      const waiting = post(pay(), headers)
      await isPending()
      await post(
        { id: undefined, method: 'notifications/cancelled', params: { requestId: 7 } },
        headers,
      )
      await waiting
      expect(await callsOnceClosed()).toEqual([])
    })

    it('on pipes', async () => {
      const flags = ['--agent', 'tester', '--env', 'CALLS']
      const raw = new RawGateway(remit, SERVER, { flags, env: { CALLS: file.path } })
      await raw.open()
      raw.write(JSON.stringify({ jsonrpc: '2.0', id: 7, ...pay() }))
      await isPending()
      const answer = raw.message()
      await raw.close()
      expect(await callsOnceClosed()).toEqual([])
      expect(await answer).toMatchObject({ id: 7, error: { code: -32603 } })
    })
  })

  describe('serves a client that accepts', () => {
    it.each([
      ['JSON alone', 'application/json', 'application/json'],
      ['events alone', 'text/event-stream', 'text/event-stream'],
      ['anything', '*/*', 'application/json'],
      ['any text', 'text/*;q=0.5', 'text/event-stream'],
      ['no type, in an empty header', '', 'application/json'],
      ['no type, in an empty list', ' , ', 'application/json'],
      ['all but JSON', '*/*, application/json;q=0', 'text/event-stream'],
      [
        'JSON, and no events',
        'application/json;q=0.1, text/event-stream; Q=0.0',
        'application/json',
      ],
    ])('%s', async (_, accept, type) => {
      const response = await post(initialize, { accept })

      expect([response.status, response.headers.get('content-type')]).toEqual([200, type])
      expect(await response.text()).toContain('"protocolVersion":"2025-11-25"')
    })

    it('JSON alone, without the progress of a call', async () => {
      const params = { ...call('steps'), _meta: { progressToken: 1 } }
      const headers = { ...(await session()), accept: 'application/json' }
      const response = await post({ method: 'tools/call', params }, headers)

      expect(response.headers.get('content-type')).toBe('application/json')
      expect(await response.json()).toMatchObject({
        id: 7,
        result: { content: [{ text: 'done' }] },
      })
    })
  })

  it.each(['text/html', '*/*;q=0', 'application/json;q=0, text/event-stream;q=0.000'])(
    'refuses a client that takes neither JSON nor events: %s',
    async (accept) => {
      expect((await post(initialize, { accept })).status).toBe(406)
    },
  )

  it('serves a client that does not say what it accepts', async () => {
    const { request } = await import('node:http')
    const status = await new Promise((resolve) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 7, ...initialize })
      const headers = {
        authorization: `Bearer ${remit.org.key}`,
        'content-type': 'application/json',
      }
      request(`${gateway.url}/mcp/remote`, { method: 'POST', headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      }).end(body)
    })
    expect(status).toBe(200)
  })

  it('keeps unused connections for as long as its configuration says', async () => {
    const { headers } = await fetch(`${gateway.url}/healthz`)

    expect(headers.get('keep-alive')).toBe('timeout=601')
  })

  it('counts the amounts of calls on pipes that its mappings name', async () => {
    const map = `${file.path}.map.json`
    writeFileSync(map, JSON.stringify({ pay: { amount: '/usd' } }))
    await remit.client.setSpendLimit({ params: { id: 'spender' }, body: { daily_usd: 100 } })
    const flags = ['--agent', 'spender', '--map', map, '--env', 'CALLS']
    const raw = new RawGateway(remit, SERVER, { flags, env: { CALLS: file.path } })
    await raw.open()
    for (const id of [1, 2, 3])
      raw.write(
        JSON.stringify({
          jsonrpc: '2.0',
          id,
          method: 'tools/call',
          params: call('pay', { usd: 40 }),
        }),
      )
    const answers = [await raw.message(), await raw.message(), await raw.message()]
    raw.kill()
    rmSync(map)

    expect(answers.filter((answer) => JSON.stringify(answer).includes('spend'))).toHaveLength(1)
    expect(file.calls).toEqual(['pay', 'pay'])
  })

  describe('does not start with', () => {
    const start = async (env: Record<string, string>, flags: string[] = ['--agent', 'tester']) => {
      const stderr = new PassThrough()
      const code = await run([...flags, '--', process.execPath, '-e', ''], {
        env: { ...process.env, REMIT_URL: remit.url, REMIT_KEY: remit.org.key, ...env },
        stdin: new PassThrough(),
        stdout: new PassThrough(),
        stderr,
        stopped: () => Promise.resolve(),
      })
      return { code, said: String(stderr.read() ?? '') }
    }
    const credential = async (scopes: ('authorize' | 'guard' | 'ledger:append')[]) => {
      const owners = [{ type: 'user' as const, id: 'ada' }]
      await remit.client.registerAgent({ body: { agent_id: `a${usd}`, owners } })
      const { secret } = await remit.client.issueCredential({
        params: { agentID: `a${usd}` },
        body: { scopes },
      })
      return { REMIT_KEY: secret ?? '' }
    }

    it('a wrong key, and says so first', async () => {
      const { code, said } = await start({ REMIT_KEY: `rmk_${'0'.repeat(65)}` })

      expect(said).toMatch(/^remit-mcp: The key in REMIT_KEY is wrong: /)
      expect(code).toBe(1)
    })

    it('a credential without the scope guard, unless it needs none', async () => {
      const env = await credential(['authorize', 'ledger:append'])
      const { code, said } = await start(env, [])

      expect(said).toMatch(/lacks the scope guard/)
      expect(code).toBe(1)
      expect((await start(env, ['--results', 'off'])).code).toBe(0)
    })

    it('a key that cannot ask for decisions', async () => {
      const { secret } = await remit.client.createKey({ body: { role: 'read' } })

      expect((await start({ REMIT_KEY: secret ?? '' })).said).toContain('needs the role ingest')
    })

    it('a file of mappings that has a mistake', async () => {
      const { code, said } = await start({}, ['--agent', 'tester', '--map', '/none/map.json'])

      expect([code, said]).toEqual([2, expect.stringContaining('--map: /none/map.json')])
    })
  })

  it('reads its key from the old name of the variable, and says so', async () => {
    const stderr = new PassThrough()
    const code = await run(['--agent', 'tester', '--', process.execPath, '-e', ''], {
      env: { ...process.env, REMIT_URL: remit.url, REMIT_API_KEY: remit.org.key, REMIT_KEY: '' },
      stdin: new PassThrough(),
      stdout: new PassThrough(),
      stderr,
      stopped: () => Promise.resolve(),
    })

    expect([code, String(stderr.read())]).toEqual([0, expect.stringContaining('old name')])
  })

  it('starts before Remit can be reached, and says so', async () => {
    const stderr = new PassThrough()
    const code = await run(['--agent', 'tester', '--', process.execPath, '-e', ''], {
      env: { ...process.env, REMIT_URL: 'http://127.0.0.1:9', REMIT_KEY: remit.org.key },
      stdin: new PassThrough(),
      stdout: new PassThrough(),
      stderr,
      stopped: () => Promise.resolve(),
    })

    expect([code, String(stderr.read())]).toEqual([0, expect.stringContaining('cannot be reached')])
  })
})
