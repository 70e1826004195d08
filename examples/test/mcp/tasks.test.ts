import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from '../support/server.ts'
import type { RemitServer } from '../support/server.ts'
import { startGateway } from './support/http.ts'
import { call } from './support/messages.ts'
import { talkOnHttp } from './support/talk.ts'
import type { Talk } from './support/talk.ts'

interface Sent {
  readonly id?: unknown
  readonly method: string
  readonly params?: { readonly taskId?: string }
}

/** A server of 2025-11-25 that makes a task of each call, and shows all tasks to everybody. */
async function startTasks() {
  const tasks: { taskId: string; status: string; ttl: number }[] = []
  const seen: string[] = []
  const answerOf = ({ method, params }: Sent): object => {
    seen.push(method)
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {}, tasks: { list: {}, cancel: {} } },
          serverInfo: { name: 'tasks', version: '1' },
        }
      case 'tools/list':
        return { tools: [{ name: 'pay', inputSchema: { type: 'object' } }] }
      case 'tools/call': {
        const task = { taskId: `t-${tasks.length}`, status: 'working', ttl: 60_000 }
        tasks.push(task)
        return { task }
      }
      case 'tasks/list':
        return { tasks, nextCursor: 'more' }
      case 'tasks/result':
        return { content: [{ type: 'text', text: `secret of ${params?.taskId}` }] }
      case 'tasks/get':
      case 'tasks/cancel':
        return { ...tasks.find(({ taskId }) => taskId === params?.taskId) }
      default:
        return {}
    }
  }
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sent = request.method === 'POST' ? ((await json(request)) as Sent) : null
    if (sent?.id === undefined) {
      response.writeHead(sent === null ? 405 : 202).end()
      return
    }
    response.setHeader('content-type', 'application/json')
    const isOther = sent.method === 'server/discover'
    const body = isOther ? { error: { code: -32_601, message: 'no' } } : { result: answerOf(sent) }
    response.end(JSON.stringify({ jsonrpc: '2.0', id: sent.id, ...body }))
  }
  const server = createServer((...exchange) => void respond(...exchange)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}/`, seen, stop }
}

describe.skipIf(!hasModules())('tasks of a server that does not know the agents', () => {
  let remit: RemitServer
  let server: Awaited<ReturnType<typeof startTasks>>
  let gateway: Awaited<ReturnType<typeof startGateway>>
  const as = async (agentID: string): Promise<() => Promise<Talk>> => {
    const owners = [{ type: 'user' as const, id: 'ada' }]
    await remit.client.registerAgent({ body: { agent_id: agentID, owners } })
    const { secret } = await remit.client.issueCredential({
      params: { agentID },
      body: { scopes: ['authorize', 'guard', 'ledger:append'] },
    })
    return () => talkOnHttp(`${gateway.url}/mcp/remote`, secret ?? '', { revision: '2025-11-25' })
  }
  beforeAll(async () => {
    remit = await startRemit()
    server = await startTasks()
    gateway = await startGateway(remit, { upstreams: { remote: { url: server.url } } })
  })
  afterAll(async () => {
    await gateway?.stop()
    server?.stop()
    await remit.stop()
  })

  it('are shown to the agent that made them, in all of its sessions, and to no other one', async () => {
    const [openAda, openEve] = [await as('ada-bot'), await as('eve-bot')]
    const [ada, again, eve] = [await openAda(), await openAda(), await openEve()]
    const begun = await ada.ask('tools/call', { ...call('pay'), task: {} })
    const { taskId } = (begun['result'] as { task: { taskId: string } }).task

    for (const own of [ada, again]) {
      expect(await own.ask('tasks/list')).toMatchObject({
        result: { tasks: [{ taskId, ttl: 60_000 }], nextCursor: 'more' },
      })
      expect(await own.ask('tasks/get', { taskId })).toMatchObject({ result: { taskId } })
    }
    expect(await eve.ask('tasks/list')).toMatchObject({ result: { tasks: [], nextCursor: 'more' } })
    const before = server.seen.length
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel'])
      expect(await eve.ask(method, { taskId })).toMatchObject({ error: { code: -32602 } })
    expect(server.seen).toHaveLength(before)
    expect(await again.ask('tasks/result', { taskId })).toMatchObject({
      result: { content: [{ text: `secret of ${taskId}` }] },
    })
    // Its result can be fetched again.
    expect(await ada.ask('tasks/result', { taskId })).toHaveProperty('result')
  })
})
