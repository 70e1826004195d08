import { join } from 'node:path'
import { InMemoryTransport, McpServer } from '@modelcontextprotocol/server'
import { createMcpGate } from '@remit/mcp'
import { inFullRun } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from '../support/server.ts'
import type { RemitServer } from '../support/server.ts'
import { startGateway } from './support/http.ts'
import { talkOnHttp, talkOnStdio } from './support/talk.ts'
import type { Talk } from './support/talk.ts'

const isRun = inFullRun('subscriptions through the gateway') && hasModules()

const SERVER = join(import.meta.dirname, 'support/telling-server.ts')
const REVISIONS = ['2025-11-25', '2026-07-28'] as const
const WAYS = (['stdio', 'HTTP'] as const).flatMap((way) =>
  REVISIONS.flatMap((client) => REVISIONS.map((server) => [way, client, server] as const)),
)
const UPDATED = 'notifications/resources/updated'
const OPEN = 'file:///open'
const SECRET = 'file:///secret'

const told = (notes: readonly Record<string, unknown>[]) => [
  ...new Set(
    notes
      .filter(({ method }) => method === UPDATED)
      .map(({ params }) => (params as { uri: string }).uri),
  ),
]

describe.skipIf(!isRun)('a client hears only of resources that it may read', () => {
  let remit: RemitServer
  let gateway: Awaited<ReturnType<typeof startGateway>>
  beforeAll(async () => {
    remit = await startRemit()
    await remit.client.createPolicy({
      body: { effect: 'deny', actions: ['resources/read'], resources: [`resource:${SECRET}`] },
    })
    await remit.client.setApprovalRule({
      params: { id: 'held' },
      body: { actions: ['resources/read'], resources: ['resource:file:///held'] },
    })
    const upstreams = Object.fromEntries(
      REVISIONS.map((revision) => [
        `r${revision}`,
        { command: process.execPath, args: [SERVER], env: { REVISION: revision } },
      ]),
    )
    gateway = await startGateway(remit, { agent: 'tester', hold_seconds: 1, upstreams })
  })
  afterAll(async () => {
    await gateway?.stop()
    await remit.stop()
  })

  const open = (way: 'stdio' | 'HTTP', client: (typeof REVISIONS)[number], server: string) =>
    way === 'HTTP'
      ? talkOnHttp(`${gateway.url}/mcp/r${server}`, remit.org.key, { revision: client })
      : talkOnStdio(
          remit,
          [SERVER],
          { revision: client },
          {
            flags: ['--agent', 'tester', '--env', 'REVISION', '--hold', '1'],
            env: { REVISION: server },
          },
        )
  const codeOf = (answer: Record<string, unknown>) => (answer['error'] as { code?: number })?.code
  const readBy = async (talk: Talk) => {
    const { result } = await talk.ask('resources/read', { uri: OPEN })
    const { contents } = result as { contents: { text: string }[] }
    return JSON.parse(contents[0]!.text) as string[]
  }
  const heardBy = async (talk: Talk) =>
    (await readBy(talk)).length > 0 && told(talk.notes).length > 0
  const subscribing =
    (talk: Talk, revision: string) =>
    (...uris: string[]) =>
      revision === '2025-11-25'
        ? talk.ask('resources/subscribe', { uri: uris.at(-1) })
        : talk.ask('subscriptions/listen', { notifications: { resourceSubscriptions: uris } })

  it.each(WAYS)('on %s, of %s with a server of %s', async (way, client, server) => {
    const talk = await open(way, client, server)
    const subscribe = subscribing(talk, client)
    for (const uri of [SECRET, 'FILE:/./%73ecret#x', 'file:///held', 'secret'])
      expect(codeOf(await subscribe(OPEN, uri)), uri).toBeLessThan(0)
    expect(await readBy(talk)).toEqual([])
    // A stream has no answer as long as it is open.
    void subscribe('file:///x/../open').catch(() => undefined)
    await expect.poll(() => heardBy(talk), { timeout: 30_000 }).toBe(true)
    await readBy(talk)

    expect(told(talk.notes)).toEqual([OPEN])
    await talk.close()
  })

  it.each(REVISIONS)('until it unsubscribes, from a server of %s', async (server) => {
    const talk = await open('HTTP', '2025-11-25', server)
    expect(await talk.ask('resources/subscribe', { uri: 'file:///x/../open' })).toHaveProperty(
      'result',
    )
    await expect.poll(() => readBy(talk), { timeout: 30_000 }).toEqual([OPEN])
    await talk.ask('resources/unsubscribe', { uri: 'file:///x/../open' })

    await expect.poll(() => readBy(talk), { timeout: 30_000 }).toEqual([])
    await talk.close()
  })

  it.each([
    ['resources/subscribe', {}, '2025-11-25'],
    ['resources/unsubscribe', { uri: 5 }, '2025-11-25'],
    ['subscriptions/listen', { notifications: [] }, '2026-07-28'],
    ['subscriptions/listen', { notifications: { resourceSubscriptions: OPEN } }, '2026-07-28'],
    ['subscriptions/listen', { notifications: { resourceSubscriptions: [5] } }, '2026-07-28'],
    [
      'subscriptions/listen',
      { notifications: { resourceSubscriptions: [OPEN], ResourceSubscriptions: [SECRET] } },
      '2026-07-28',
    ],
  ] as const)('and %s of %j is refused', async (method, params, revision) => {
    const talk = await open('HTTP', revision, revision)

    expect(await talk.ask(method, params)).toMatchObject({ error: { code: -32_602 } })
    await talk.close()
  })

  it('of a server with createMcpGate, which tells all of its clients', async () => {
    const [near, far] = InMemoryTransport.createLinkedPair()
    const mcp = new McpServer(
      { name: 'own', version: '1' },
      { capabilities: { resources: { subscribe: true } } },
    )
    mcp.server.setRequestHandler('resources/subscribe', () => ({}))
    const { url, org } = remit
    await createMcpGate(mcp, { url, key: org.key, agentId: 'tester', name: 'own' }).connect(far)
    const seen: Record<string, unknown>[] = []
    Object.assign(near, { onmessage: (one: Record<string, unknown>) => void seen.push(one) })
    await near.start()
    const send = async (id: number, method: string, params: object) => {
      await near.send({ jsonrpc: '2.0', id, method, params } as never)
      await expect.poll(() => seen.some((one) => one['id'] === id)).toBe(true)
    }
    const clientInfo = { name: 'raw', version: '1' }
    await send(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
    await send(2, 'resources/subscribe', { uri: SECRET })
    await send(3, 'resources/subscribe', { uri: OPEN })
    for (const uri of [SECRET, OPEN]) await mcp.server.sendResourceUpdated({ uri })
    await expect.poll(() => told(seen)).toEqual([OPEN])

    expect(seen.find(({ id }) => id === 2)).toMatchObject({ error: { code: -32_001 } })
    await mcp.close()
  })
})
