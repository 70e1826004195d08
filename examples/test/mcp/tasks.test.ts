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

const eventOf = (method: string, params: object): string =>
  `data: ${JSON.stringify({ jsonrpc: '2.0', method, params })}\n\n`

/** A server that makes a task of each call, and shows all tasks, and their states, to everybody. */
async function startTasks(revision: '2025-11-25' | '2026-07-28' = '2025-11-25') {
  const tasks: { taskId: string; status: string; ttl: number }[] = []
  const seen: string[] = []
  const streams = new Set<ServerResponse>()
  const answerOf = ({ method, params }: Sent): object => {
    seen.push(method)
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {}, tasks: { list: {}, cancel: {} } },
          serverInfo: { name: 'tasks', version: '1' },
        }
      case 'server/discover':
        return { supportedVersions: [revision], capabilities: { tools: {}, prompts: {} } }
      case 'tools/list':
        return { tools: [{ name: 'pay', inputSchema: { type: 'object' } }] }
      case 'tools/call': {
        const task = { taskId: `t-${tasks.length}`, status: 'working', ttl: 60_000 }
        tasks.push(task)
        return revision === '2025-11-25' ? { task } : { resultType: 'task', ...task }
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
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      streams.add(response)
      return
    }
    const sent = request.method === 'POST' ? ((await json(request)) as Sent) : null
    if (sent?.id === undefined) {
      response.writeHead(sent === null ? 405 : 202).end()
      return
    }
    response.setHeader('content-type', 'application/json')
    if (sent.method === 'prompts/list') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const { taskId } of tasks)
        response.write(eventOf('notifications/tasks/status', { taskId, status: 'working' }))
      response.write(eventOf('notifications/message', { level: 'info', data: 'last' }))
      response.end(
        `data: ${JSON.stringify({ jsonrpc: '2.0', id: sent.id, result: { prompts: [] } })}\n\n`,
      )
      return
    }
    const isOther = sent.method === 'server/discover' && revision === '2025-11-25'
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
  const announce = (method: string, params: object) => {
    for (const stream of streams) stream.write(eventOf(method, params))
  }
  return { url: `http://127.0.0.1:${port}/`, seen, streams, announce, stop }
}

describe.skipIf(!hasModules())('tasks of a server that does not know the agents', () => {
  let remit: RemitServer
  let server: Awaited<ReturnType<typeof startTasks>>
  let modern: typeof server
  let gateway: Awaited<ReturnType<typeof startGateway>>
  const secretOf = async (agentID: string): Promise<string> => {
    const owners = [{ type: 'user' as const, id: 'ada' }]
    await remit.client.registerAgent({ body: { agent_id: agentID, owners } })
    const { secret } = await remit.client.issueCredential({
      params: { agentID },
      body: { scopes: ['authorize', 'guard', 'ledger:append'] },
    })
    return secret ?? ''
  }
  const as = async (agentID: string): Promise<() => Promise<Talk>> => {
    const secret = await secretOf(agentID)
    return () => talkOnHttp(`${gateway.url}/mcp/remote`, secret, { revision: '2025-11-25' })
  }
  /** The headers of a session with the gateway. */
  const sessionOf = async (secret: string) => {
    const authorization = `Bearer ${secret}`
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'raw', version: '1' },
    }
    const response = await fetch(`${gateway.url}/mcp/remote`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
    })
    await response.text()
    return { authorization, 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' }
  }
  beforeAll(async () => {
    remit = await startRemit()
    server = await startTasks()
    modern = await startTasks('2026-07-28')
    gateway = await startGateway(remit, {
      upstreams: { remote: { url: server.url }, modern: { url: modern.url } },
    })
  })
  afterAll(async () => {
    await gateway?.stop()
    server?.stop()
    modern?.stop()
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

  it('tell their states to the agent that made them alone', async () => {
    const secrets = { ann: await secretOf('ann-bot'), bob: await secretOf('bob-bot') }
    const events = async (secret: string) => {
      const session = await sessionOf(secret)
      const before = server.streams.size
      const headers = { ...session, accept: 'text/event-stream' }
      const { body } = await fetch(`${gateway.url}/mcp/remote`, { headers })
      await expect.poll(() => server.streams.size, { timeout: 60_000 }).toBe(before + 1)
      return body!.pipeThrough(new TextDecoderStream()).getReader()
    }
    const [ann, bob] = [await events(secrets.ann), await events(secrets.bob)]
    const talk = await talkOnHttp(`${gateway.url}/mcp/remote`, secrets.ann, {
      revision: '2025-11-25',
    })
    const begun = await talk.ask('tools/call', { ...call('pay'), task: {} })
    const { taskId } = (begun['result'] as { task: { taskId: string } }).task
    server.announce('notifications/tasks/status', { taskId, status: 'completed' })
    server.announce('notifications/message', { level: 'info', data: 'last' })
    const told = async (reader: typeof ann) => {
      let text = ''
      while (!text.includes('"last"')) text += (await reader.read()).value ?? ''
      await reader.cancel()
      return text
    }

    expect(await told(ann)).toContain(taskId)
    expect(await told(bob)).not.toContain(taskId)
  })

  it.each([
    ['2025-11-25', 'remote'],
    ['2026-07-28', 'modern'],
  ] as const)(
    'tell no state before the response to a request of another agent (%s)',
    async (revision, name) => {
      const url = `${gateway.url}/mcp/${name}`
      const owner = await secretOf(`owner-${revision}`)
      const own = await talkOnHttp(url, owner, { revision })
      const begun = await own.ask('tools/call', { ...call('pay'), task: {} })
      const [, taskId = 'none'] = /"taskId":"([^"]+)"/.exec(JSON.stringify(begun)) ?? []
      const other = await talkOnHttp(url, await secretOf(`other-${revision}`), { revision })
      await other.ask('prompts/list')
      await own.ask('prompts/list')

      expect(JSON.stringify(other.notes)).toContain('"last"')
      expect(JSON.stringify(other.notes)).not.toContain('notifications/tasks')
      expect(JSON.stringify(own.notes)).toContain(taskId)
    },
  )
})
