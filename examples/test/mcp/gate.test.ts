import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Client } from '@modelcontextprotocol/client'
import { createMcpHandler, InMemoryTransport } from '@modelcontextprotocol/server'
import { createMcpGate } from '@remit/mcp'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from '../support/server.ts'
import type { RemitServer } from '../support/server.ts'
import { countingServer } from './support/counting.ts'
import { connect, MODERN } from './support/http.ts'

const textOf = (result: unknown) =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join('')

describe.skipIf(!hasModules())('a server with createMcpGate', () => {
  let remit: RemitServer
  let url: string
  const calls: string[] = []
  const build = () => countingServer({ called: (name) => void calls.push(name) })
  const options = () => ({ url: remit.url, key: remit.org.key, agentId: 'tester', name: 'own' })
  const server = createServer()

  beforeAll(async () => {
    remit = await startRemit()
    await remit.client.createPolicy({
      body: { effect: 'deny', actions: ['tools/call'], resources: ['tool:refund'] },
    })
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

  it.each([
    ['in memory', inMemory],
    ['on HTTP, of 2025-11-25', async () => (await connect(url)).client],
    ['on HTTP, of 2026-07-28', async () => (await connect(url, undefined, MODERN)).client],
  ])('decides the calls of a client %s, and runs none that is denied', async (_, open) => {
    const client = await open()
    const seen: number[] = []
    const onprogress = ({ progress }: { progress: number }) => seen.push(progress)

    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('refund')
    expect(textOf(await client.callTool({ name: 'pay', arguments: { usd: 5 } }))).toBe(
      'pay {"usd":5}',
    )
    expect(textOf(await client.callTool({ name: 'refund', arguments: {} }))).toMatch(
      /^Not executed: denied by Remit \(policy_deny\)/,
    )
    await client.callTool({ name: 'steps', arguments: {} }, { onprogress })
    expect(calls).toEqual(['pay', 'steps'])
    expect(seen).toEqual([1, 2, 3])
    await client.close()
  })

  it('holds a call until it is approved, and runs it once', async () => {
    await remit.client.setApprovalRule({
      params: { id: 'large' },
      body: {
        actions: ['tools/call'],
        condition: 'has(context.args.usd) && context.args.usd > 100',
      },
    })
    const client = await inMemory()
    const call = client.callTool({ name: 'pay', arguments: { usd: 101 } })
    const pending = async () =>
      (await remit.client.listApprovals({ query: { status: 'pending' } })).data
    await expect.poll(async () => (await pending()).length, { timeout: 60_000 }).toBe(1)
    expect(calls).toEqual([])
    const [approval] = await pending()
    await remit.client.decideApproval({
      params: { requestID: approval!.id },
      body: { decision: 'approve', approver: 'carol' },
    })

    expect(textOf(await call)).toBe('pay {"usd":101}')
    expect(calls).toEqual(['pay'])
    await client.close()
  })
})
