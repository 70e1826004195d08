import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createClient } from './index.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

describe('a client that sends with node:http', () => {
  let server: Server
  let url: string
  let answer: (request: IncomingMessage, response: ServerResponse) => void
  let connections: number
  beforeEach(async () => {
    connections = 0
    server = createServer((request, response) => answer(request, response))
    server.on('connection', () => connections++)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  const client = (options: { baseUrl?: string; timeoutMs?: number } = {}) =>
    createClient({ baseUrl: url, key: 'k', retries: 0, ...options })

  it('sends method, path, headers and body, below the path of its address', async () => {
    const got: unknown[] = []
    answer = (request, response) => {
      const { method, url: path, headers } = request
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        got.push(method, path, headers['authorization'], headers['idempotency-key'])
        got.push(headers['content-length'], Buffer.concat(parts).toString())
        response.writeHead(200, { ...JSON_TYPE, 'x-two': ['a', 'b'] }).end('{"decision":"deny"}')
      })
    }
    const { authorize } = client({ baseUrl: `${url}/below/` })
    const { data, status, headers } = await authorize.withResponse({
      body: { agent_id: 'a', action: 'é' },
      idempotencyKey: 'i',
    })

    expect(data).toEqual({ decision: 'deny' })
    expect([status, headers.get('x-two')]).toEqual([200, 'a, b'])
    const body = '{"agent_id":"a","action":"é"}'
    const length = String(Buffer.byteLength(body))
    expect(got).toEqual(['POST', '/below/v1/authorize', 'Bearer k', 'i', length, body])
  })

  it('uses a connection again, also after an answer without a body', async () => {
    answer = (request, response) => {
      request.resume()
      if (request.method === 'DELETE') response.writeHead(204).end()
      else response.writeHead(200, JSON_TYPE).end('{}')
    }
    const one = client()
    for (let i = 0; i < 3; i++) {
      await one.deletePolicy({ params: { policyID: 'pol_1' } })
      await one.listPolicies({})
    }

    // The second may begin before the answer without a body has ended.
    expect(connections).toBeLessThanOrEqual(2)
  })

  it('reads events, and ends their connection when the loop is left', async () => {
    const left = Promise.withResolvers<void>()
    answer = (request, response) => {
      request.resume()
      response.once('close', left.resolve)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('event: approval\ndata: 1\n\ndata: 2\n\n')
    }
    const read: string[] = []
    for await (const { data } of client().streamApprovals()) {
      read.push(data)
      if (data === '2') break
    }

    expect(read).toEqual(['1', '2'])
    await left.promise
  })

  it('ends the connection of an answer that is no stream of events', async () => {
    const left = Promise.withResolvers<void>()
    answer = (request, response) => {
      request.resume()
      response.once('close', left.resolve)
      response.writeHead(200, { 'content-type': 'text/html' }).write('<p>')
    }
    await expect(client().streamApprovals().next()).rejects.toMatchObject({
      code: 'unexpected_answer',
    })
    await left.promise
  })

  it.each([
    ['an error page of a proxy', 502, { 'content-type': 'text/html' }, '<p>no</p>'],
    ['HTML with 200', 200, { 'content-type': 'text/html' }, '<p>ok</p>'],
    ['a redirect, which is not followed', 302, { location: '/elsewhere' }, ''],
    ['half a JSON', 200, JSON_TYPE, '{"decision":'],
  ])('%s is no answer', async (_, status, headers, body) => {
    let count = 0
    answer = (request, response) => {
      count++
      request.resume()
      response.writeHead(status, headers).end(body)
    }
    await expect(
      client().authorize({ body: { agent_id: 'a', action: 'b' } }),
    ).rejects.toMatchObject({ code: 'unexpected_answer', status })
    expect(count).toBe(1)
  })

  it('a connection that breaks off within the body is no answer', async () => {
    answer = (request, response) => {
      request.resume()
      response.writeHead(200, { ...JSON_TYPE, 'content-length': '100' })
      response.write('{"decision":"allow"', () => response.destroy())
    }
    await expect(
      client().authorize({ body: { agent_id: 'a', action: 'b' } }),
    ).rejects.toMatchObject({ code: 'unreachable' })
  })

  it('an answer that does not come, or not whole, ends with the time limit', async () => {
    for (const begins of [false, true]) {
      answer = (request, response) => {
        request.resume()
        if (begins) response.writeHead(200, JSON_TYPE).write('{')
      }
      await expect(
        client({ timeoutMs: 300 }).authorize({ body: { agent_id: 'a', action: 'b' } }),
      ).rejects.toMatchObject({ code: 'timed_out' })
    }
  })

  it('a signal ends a call with its reason', async () => {
    answer = (request) => request.resume()
    const controller = new AbortController()
    const asked = client().authorize({
      body: { agent_id: 'a', action: 'b' },
      signal: controller.signal,
    })
    controller.abort(new Error('enough'))

    await expect(asked).rejects.toThrow('enough')
  })

  it('refuses an invalid address', () => {
    expect(() => client({ baseUrl: 'remit' })).toThrow('baseUrl must be an http or https URL')
  })

  it('reads the key for each request', async () => {
    const keys: (string | undefined)[] = []
    answer = (request, response) => {
      request.resume()
      keys.push(request.headers.authorization)
      response.writeHead(200, JSON_TYPE).end('{}')
    }
    let key = 'one'
    const renewed = createClient({
      baseUrl: url,
      get key() {
        return key
      },
    })
    await renewed.listPolicies({})
    key = 'two'
    await renewed.listPolicies({})

    expect(keys).toEqual(['Bearer one', 'Bearer two'])
  })
})
