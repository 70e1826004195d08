import { request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { pairs } from '@remit/testing/pure'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { hasModules } from '../support/server.ts'
import { CallFile } from './support/call-file.ts'
import { ownProgram } from './support/gateway.ts'
import { connect, startCounting, startGateway } from './support/http.ts'
import {
  call,
  envelope,
  MODERN,
  progressSeenBy,
  REVISIONS,
  textOf,
  WITH_PROGRESS,
} from './support/messages.ts'
import { startRuled } from './support/ruled.ts'
import type { Ruled } from './support/ruled.ts'

const TIMEOUT = { timeout: 60_000 }

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A request as a test writes it: headers that a browser or an SDK would not send. */
const send = (url: string, method: string, headers: object, body?: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: { ...headers } }, (response) => {
      response.setEncoding('utf8')
      let text = ''
      response.on('data', (part: string) => (text += part))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })

describe.skipIf(!hasModules())('the gateway on HTTP', () => {
  const file = new CallFile()
  let remit: Ruled
  let remote: Awaited<ReturnType<typeof startCounting>>
  let gateway: Awaited<ReturnType<typeof startGateway>>
  const calls = (name: string) => (name === 'remote' ? remote.calls : file.calls)

  beforeAll(async () => {
    remit = await startRuled()
    remote = await startCounting()
    gateway = await startGateway(
      remit,
      {
        agent: 'tester',
        limits: { body_bytes: 100_000 },
        upstreams: {
          remote: { url: remote.url, headers: { authorization: { env: 'UPSTREAM' } } },
          started: {
            command: process.execPath,
            args: [ownProgram('counting-server')],
            env: { CALLS: { env: 'CALLS_FILE' } },
          },
        },
      },
      { CALLS_FILE: file.path, UPSTREAM: 'Bearer of-the-gateway', SECRET: 'hidden' },
    )
  })
  afterAll(async () => {
    await gateway?.stop()
    await remote?.stop()
    await remit.stop()
    file.remove()
  })
  beforeEach(() => {
    remote.calls.length = 0
    file.clear()
  })

  const at = (name: string) => `${gateway.url}/mcp/${name}`
  const JSON_HEADERS = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const authorized = (secret = remit.org.key) => ({
    ...JSON_HEADERS,
    authorization: `Bearer ${secret}`,
  })
  const modern = (method: string, params: object, headers: object = {}, name?: string) =>
    send(
      at('remote'),
      'POST',
      {
        ...authorized(),
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': method,
        ...(name !== undefined && { 'mcp-name': name }),
        ...headers,
      },
      JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...envelope(), ...params } }),
    )
  const pay = (headers: object = {}, params: object = {}) =>
    modern('tools/call', { name: 'pay', arguments: {}, ...params }, headers, 'pay')

  const cases = pairs(['remote', 'started'], REVISIONS).map(
    ([name, one]) => [name, ...one] as const,
  )
  describe.each(cases)('with a server that is %s and a client of %s', (name, revision, options) => {
    let client: Awaited<ReturnType<typeof connect>>['client']
    beforeAll(async () => {
      ;({ client } = await connect(at(name), remit.org.key, options))
    })
    afterAll(() => client.close())

    it('decides calls, forwards and settles them', async () => {
      expect(client.getNegotiatedProtocolVersion()).toBe(revision)
      const result = await client.callTool(call('pay', { usd: 5 }))

      expect(textOf(result)).toBe('pay {"usd":5}')
      expect(calls(name)).toEqual(['pay'])
      const { data } = await remit.client.listEntries({
        query: { kind: 'authorization.decided', limit: 1 },
      })
      expect(data[0]).toMatchObject({
        agent_id: 'tester',
        resource: 'tool:pay',
        decision: 'allow',
        data: { context: { args: { usd: 5 }, upstream: name } },
      })
    })

    it('forwards no call that is denied', async () => {
      const result = await client.callTool(call('refund'))

      expect(result.isError).toBe(true)
      expect(textOf(result)).toMatch(/^Not executed: denied by Remit \(policy_deny\)/)
      expect(calls(name)).toEqual([])
    })

    it('passes progress on, to the request that it is about', async () => {
      const seen = progressSeenBy(client)
      const steps = () => client.callTool(call('steps'), WITH_PROGRESS)
      await Promise.all([steps(), steps()])

      expect([...seen.values()]).toEqual([
        [1, 2, 3],
        [1, 2, 3],
      ])
    })

    it('passes a cancellation on', async () => {
      const cancelled = new AbortController()
      const answer = client.callTool(call('slow', { ms: 600_000 }), { signal: cancelled.signal })
      await vi.waitFor(() => expect(calls(name)).toEqual(['slow']), TIMEOUT)
      cancelled.abort(new Error('enough'))

      await expect(answer).rejects.toThrow(/enough/)
      await vi.waitFor(() => expect(calls(name)).toEqual(['slow', 'cancelled']), TIMEOUT)
    })

    it('runs 100 calls at once, each once', async () => {
      const results = await Promise.all(
        Array.from({ length: 100 }, (_, n) => client.callTool(call('pay', { n }))),
      )

      expect(results.map(textOf)).toEqual(results.map((_, n) => `pay {"n":${n}}`))
      expect(calls(name).filter((called) => called === 'pay')).toHaveLength(100)
    })
  })

  it.each([
    ['remote', {}],
    ['started', MODERN],
  ])('has results of 10 MB of a server that is %s', async (name, options) => {
    const { client } = await connect(at(name), remit.org.key, options)
    const result = await client.callTool(call('big'))
    await client.close()

    expect(textOf(result)).toHaveLength(10_485_760)
  })

  it('sends its own secret to the server, and nothing of the client', async () => {
    remote.headers.length = 0
    await pay({ cookie: 'a=b', 'x-api-key': 'of-the-client' })

    expect(remote.calls).toEqual(['pay'])
    for (const headers of remote.headers) {
      expect(headers['authorization']).toBe('Bearer of-the-gateway')
      expect(JSON.stringify(headers)).not.toMatch(/of-the-client|a=b|rmk_/)
    }
  })

  it('gives a server that it starts only the environment of the configuration', async () => {
    const { client } = await connect(at('started'), remit.org.key)
    const result = await client.callTool(call('environment'))
    const seen = JSON.parse(textOf(result)) as Record<string, string>
    await client.close()

    expect(seen).toMatchObject({ CALLS: file.path, SECRET: '' })
    expect(Object.keys(seen)).not.toContain('REMIT_KEY')
    expect(JSON.stringify(seen)).not.toContain(remit.org.key)
  })

  describe('refuses a request', () => {
    it.each([
      ['method', { 'mcp-method': 'tools/list' }],
      ['name', { 'mcp-name': 'refund' }],
      ['encoded name', { 'mcp-name': '=?base64?cmVmdW5k?=' }],
      ['version', { 'mcp-protocol-version': '2025-11-25' }],
    ])('whose header of the %s differs from the body', async (_, headers) => {
      const { status, body } = await pay(headers)

      expect(status).toBe(400)
      expect(JSON.parse(body)).toMatchObject({ id: 1, error: { code: -32020 } })
      expect(remote.calls).toEqual([])
    })

    it('whose name is missing in the headers', async () => {
      const { status, body } = await modern('tools/call', call('pay'))

      expect([status, (JSON.parse(body) as { error: unknown }).error]).toMatchObject([
        400,
        { code: -32020 },
      ])
    })

    it.each([
      ['of another host', { host: 'evil.example:80' }, 403],
      ['of a page of another origin', { origin: 'http://evil.example' }, 403],
      ['of another media type', { 'content-type': 'text/plain' }, 415],
      ['that is encoded', { 'content-encoding': 'gzip' }, 415],
      ['that accepts neither JSON nor events', { accept: 'text/html' }, 406],
    ])('%s', async (_, headers, status) => {
      expect((await pay(headers)).status).toBe(status)
      expect(remote.calls).toEqual([])
    })

    it.each([
      ['without a credential', {}],
      ['with no bearer', { authorization: 'Basic YTpi' }],
      ['with a token of nobody', { authorization: 'Bearer abc' }],
      ['with a key that does not exist', { authorization: `Bearer rmk_${'0'.repeat(65)}` }],
    ])('%s', async (_, headers) => {
      const answer = await send(at('remote'), 'POST', { ...JSON_HEADERS, ...headers }, '{}')

      expect(answer.status).toBe(401)
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer realm="remit-mcp"/)
    })

    it('of another organization, whose rules would open the servers of this one', async () => {
      const other = await remit.remit.organization()
      const answer = await send(at('remote'), 'POST', authorized(other.key), '{}')

      expect(answer.status).toBe(401)
      expect(answer.body).toContain('another organization')
    })

    it.each([
      ['an array', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400],
      ['a name twice', '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}', 400],
      [
        'an argument twice',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"usd":1,"usd":9}}}',
        400,
      ],
      [
        'an integer that is not exact',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"usd":9007199254740993}}}',
        400,
      ],
      ['too many bytes', JSON.stringify({ text: 'x'.repeat(100_000) }), 413],
      ['no session', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', 400],
    ])('with %s', async (_, body, status) => {
      expect((await send(at('remote'), 'POST', authorized(), body)).status).toBe(status)
    })

    it('for a server that does not exist', async () => {
      expect((await send(at('other'), 'POST', authorized(), '{}')).status).toBe(404)
    })
  })

  it('keeps a session for the agent that began it', async () => {
    const { client, transport } = await connect(at('remote'), remit.org.key)
    const list = '{"jsonrpc":"2.0","id":7,"method":"tools/list"}'
    const headers = { ...authorized(), 'mcp-session-id': transport.sessionId }
    const other = { ...authorized(), 'mcp-session-id': crypto.randomUUID() }

    expect((await send(at('remote'), 'POST', headers, list)).status).toBe(200)
    expect((await send(at('remote'), 'POST', other, list)).status).toBe(404)
    expect((await send(at('started'), 'POST', headers, list)).status).toBe(404)
    await transport.terminateSession()
    expect((await send(at('remote'), 'POST', headers, list)).status).toBe(404)
    await client.close()
  })

  it('answers 404 to a method that it does not know', async () => {
    const { status, body } = await modern('tools/destroy', {})

    expect(status).toBe(404)
    expect(JSON.parse(body)).toMatchObject({ error: { code: -32601 } })
  })

  it('refuses calls and forwards nothing while Remit cannot be reached', async () => {
    const away = await startGateway(
      { url: 'http://127.0.0.1:9', org: remit.org },
      { agent: 'tester', upstreams: { remote: { url: remote.url } } },
    )
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/list',
      params: envelope(),
    })
    const { status } = await send(`${away.url}/mcp/remote`, 'POST', authorized(), body)
    await away.stop()

    expect(status).toBe(503)
    expect(remote.calls).toEqual([])
  })
})
