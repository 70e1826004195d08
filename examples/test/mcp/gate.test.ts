import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Client } from '@modelcontextprotocol/client'
import { createMcpHandler, InMemoryTransport } from '@modelcontextprotocol/server'
import { createMcpGate } from '@remit/mcp'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasModules } from '../support/server.ts'
import { countingServer } from './support/counting.ts'
import { connect } from './support/http.ts'
import { call, MODERN, progressSeenBy, TASKS, textOf, WITH_PROGRESS } from './support/messages.ts'
import { startRuled } from './support/ruled.ts'
import type { Ruled } from './support/ruled.ts'
import { talkOnHttp } from './support/talk.ts'

describe.skipIf(!hasModules())('a server with createMcpGate', () => {
  let remit: Ruled
  let url: string
  const calls: string[] = []
  const build = () => countingServer({ called: (name) => void calls.push(name) })
  const options = () => ({ url: remit.url, key: remit.org.key, agentId: 'tester', name: 'own' })
  const server = createServer()

  beforeAll(async () => {
    remit = await startRuled()
    const handler = createMcpHandler(createMcpGate(build, options()))
    const listener = getRequestListener((request) => handler.fetch(request))
    server.on('request', (request, response) => void listener(request, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  })
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await remit.stop()
  })
  beforeEach(() => (calls.length = 0))

  const inMemory = async () => {
    const [near, far] = InMemoryTransport.createLinkedPair()
    await createMcpGate(build(), options()).connect(far)
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(near)
    return client
  }

  /** A client without an SDK, after `initialize`. */
  const raw = async () => {
    const [near, far] = InMemoryTransport.createLinkedPair()
    await createMcpGate(build(), options()).connect(far)
    const answers: unknown[] = []
    Object.assign(near, { onmessage: (message: unknown) => void answers.push(message) })
    await near.start()
    const initialize = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    }
    await near.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize })
    await expect.poll(() => answers).toHaveLength(1)
    return { near, answers }
  }

  it.each([
    ['in memory', inMemory],
    ['on HTTP, of 2025-11-25', async () => (await connect(url)).client],
    ['on HTTP, of 2026-07-28', async () => (await connect(url, undefined, MODERN)).client],
  ])('decides the calls of a client %s, and runs none that is denied', async (_, open) => {
    const client = await open()
    const seen = progressSeenBy(client)

    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('refund')
    expect(textOf(await client.callTool({ name: 'pay', arguments: { usd: 5 } }))).toBe(
      'pay {"usd":5}',
    )
    expect(textOf(await client.callTool({ name: 'refund', arguments: {} }))).toMatch(
      /^Not executed: denied by Remit \(policy_deny\)/,
    )
    await client.callTool({ name: 'steps', arguments: {} }, WITH_PROGRESS)
    expect(calls).toEqual(['pay', 'steps'])
    expect([...seen.values()]).toEqual([[1, 2, 3]])
    await client.close()
  })

  it('holds a call until it is approved, and runs it once', async () => {
    const client = await inMemory()
    const answer = client.callTool(call('pay', { usd: 101 }))
    await expect.poll(remit.pending, { timeout: 60_000 }).toHaveLength(1)
    expect(calls).toEqual([])
    await remit.approve()

    expect(textOf(await answer)).toBe('pay {"usd":101}')
    expect(calls).toEqual(['pay'])
    await client.close()
  })

  it('runs the arguments that were decided, whatever a client in the process does to its own', async () => {
    const { near, answers } = await raw()
    const params = call('pay', { usd: 5 })
    const message = { jsonrpc: '2.0', id: 2, method: 'tools/call', params } as const
    await near.send(message)
    params.arguments['usd'] = 5_000
    await near.send([message] as unknown as typeof message)
    await expect.poll(() => answers).toHaveLength(2)

    expect(answers[1]).toMatchObject({ id: 2, result: { content: [{ text: 'pay {"usd":5}' }] } })
    expect(calls).toEqual(['pay'])
  })

  it('decides and runs an integer that a float holds exactly, however it is printed', async () => {
    const { near, answers } = await raw()
    for (const [id, n] of [2 ** 53, 2 ** 60, -(2 ** 63), 1e20].entries())
      await near.send({
        jsonrpc: '2.0',
        id: id + 2,
        method: 'tools/call',
        params: call('pay', { n }),
      })
    await expect.poll(() => answers).toHaveLength(5)

    expect(calls).toHaveLength(4)
    const [latest] = await remit.decisions(1)
    expect(latest?.data).toMatchObject({ context: { args: { n: 1e20 } } })
  })

  it('refuses a request with the id of one under way, whose answers nobody could tell apart', async () => {
    const { near, answers } = await raw()
    const request = { jsonrpc: '2.0', id: 2, method: 'tools/call' } as const
    await near.send({ ...request, params: call('slow', { ms: 500 }) })
    await near.send({ ...request, params: call('pay', { usd: 5 }) })
    await expect.poll(() => answers).toHaveLength(3)

    expect(answers.slice(1)).toMatchObject([
      { id: 2, error: { code: -32600, message: 'id: is in use by another request.' } },
      { id: 2, result: { content: [{ text: 'late' }] } },
    ])
    expect(calls).toEqual(['slow'])
  })

  it('makes no task where the server ends with the request: the call is held', async () => {
    const opening = { revision: '2026-07-28', capabilities: TASKS } as const
    const { ask } = await talkOnHttp(url, 'none', opening)
    const answer = ask('tools/call', call('pay', { usd: 102 }))
    await expect.poll(remit.pending, { timeout: 60_000 }).toHaveLength(1)
    await remit.approve()

    expect(textOf((await answer)['result'])).toBe('pay {"usd":102}')
    expect(calls).toEqual(['pay'])
  })
})
