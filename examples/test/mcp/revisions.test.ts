import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { inFullRun, sampled } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { hasModules, startRemit } from '../support/server.ts'
import type { RemitServer } from '../support/server.ts'
import { askingServer } from './support/asking.ts'
import { direct, governed, ownProgram, serverProgram } from './support/gateway.ts'
import { connect, startEverything, startGateway } from './support/http.ts'
import { MODERN, progressSeenBy, WITH_PROGRESS } from './support/messages.ts'

const isRun = inFullRun('revisions of MCP') && hasModules()

const EVERYTHING = [serverProgram('server-everything'), 'stdio']
const ASKING = [ownProgram('asking-server')]
const TIMEOUT = { timeout: 60_000 }
/** The server offers further tools to such a client. */
const ABLE = { capabilities: { sampling: {}, elicitation: { form: {} } } }

type Client = Awaited<ReturnType<typeof direct>>['client']
const textOf = (result: unknown) =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join('')

/** Answers samples and elicitations by a script; returns what was asked. */
function answering(client: Client): string[] {
  const asked: string[] = []
  client.setRequestHandler('sampling/createMessage', () => {
    asked.push('sample')
    return {
      model: 'm',
      role: 'assistant' as const,
      content: { type: 'text' as const, text: 'scripted' },
    }
  })
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message)
    return { action: 'accept' as const, content: { color: 'red' } }
  })
  return asked
}

/** `askingServer` on HTTP, for clients of 2026-07-28 alone. */
async function startAsking() {
  const handler = createMcpHandler(askingServer, { legacy: 'reject' })
  const server = createServer((request, response) => {
    void getRequestListener((asked) => handler.fetch(asked))(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    handler,
    async stop() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

describe.skipIf(!isRun)('a client and a server of different revisions', () => {
  let remit: RemitServer
  let everything: Awaited<ReturnType<typeof startEverything>>
  let asking: Awaited<ReturnType<typeof startAsking>>
  let gateway: Awaited<ReturnType<typeof startGateway>>

  beforeAll(async () => {
    remit = await startRemit()
    everything = await startEverything()
    asking = await startAsking()
    const started = ([program = '', ...args]: string[]) => ({
      command: process.execPath,
      args: ['--conditions=@remit/source', program, ...args],
    })
    gateway = await startGateway(remit, {
      agent: 'tester',
      upstreams: {
        'legacy-remote': { url: everything.url },
        'legacy-started': started(EVERYTHING),
        'modern-remote': { url: asking.url },
        'modern-started': started(ASKING),
      },
    })
  })
  afterAll(async () => {
    await gateway?.stop()
    await everything?.stop()
    await asking?.stop()
    await remit.stop()
  })

  const behind = async (name: string, options: object): Promise<Client> => {
    if (!name.endsWith('stdio'))
      return (await connect(`${gateway.url}/mcp/${name}`, remit.org.key, options)).client
    const server = name.startsWith('legacy') ? EVERYTHING : ASKING
    return (await governed(remit, server, options)).client
  }
  const decisions = async () =>
    (await remit.client.listEntries({ query: { kind: 'authorization.decided', limit: 100 } })).data
      .length

  describe.each(sampled(['legacy-remote', 'legacy-started', 'legacy-stdio'], 2))(
    'of 2026-07-28 and %s',
    (name) => {
      let plain: Client
      let client: Client
      beforeAll(async () => {
        plain = (await direct(EVERYTHING, ABLE)).client
        client = await behind(name, { ...ABLE, ...MODERN })
      })
      afterAll(async () => {
        await plain?.close()
        await client?.close()
      })

      it('have the same tools, prompts and resources', async () => {
        const { tools } = await plain.listTools()
        const same = tools.map((tool) => ({ ...tool, execution: undefined }))

        expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28')
        expect(client.getServerVersion()).toEqual(plain.getServerVersion())
        expect(client.getInstructions()).toEqual(plain.getInstructions())
        expect((await client.listTools()).tools).toEqual(same)
        expect((await client.listPrompts()).prompts).toEqual((await plain.listPrompts()).prompts)
        const { resources } = await client.listResources()
        expect(resources).toEqual((await plain.listResources()).resources)
        const read = { uri: resources[0]!.uri }
        expect((await client.readResource(read)).contents).toEqual(
          (await plain.readResource(read)).contents,
        )
      })

      it.each([
        ['echo', { message: 'hello' }],
        ['get-structured-content', { location: 'Chicago' }],
        ['get-sum', { a: 'no number' }],
      ])('have the same result of %s', async (tool, args) => {
        const call = { name: tool, arguments: args }
        const [ours, theirs] = [await client.callTool(call), await plain.callTool(call)]

        expect([ours.content, ours.structuredContent, ours.isError]).toEqual([
          theirs.content,
          theirs.structuredContent,
          theirs.isError,
        ])
      })

      it('ask the client for a sample within one decided call', async () => {
        const asked = answering(client)
        const before = await decisions()
        const call = {
          name: 'trigger-sampling-request',
          arguments: { prompt: 'hi', maxTokens: 10 },
        }

        expect(textOf(await client.callTool(call))).toContain('scripted')
        expect(asked).toEqual(['sample'])
        expect((await decisions()) - before).toBe(1)
      })

      it('pass progress on, to the call that it is about', async () => {
        const seen = progressSeenBy(client)
        const call = {
          name: 'trigger-long-running-operation',
          arguments: { duration: 0.2, steps: 2 },
        }
        const made = () => client.callTool(call, WITH_PROGRESS)
        await Promise.all([made(), made()])

        expect([...seen.values()].map(([first]) => first)).toEqual([1, 1])
      })
    },
  )

  it('refuses the answer to another call', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': { sampling: {} },
    }
    const send = async (id: number, params: object) => {
      const response = await fetch(`${gateway.url}/mcp/legacy-remote`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${remit.org.key}`,
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'trigger-sampling-request',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id,
          method: 'tools/call',
          params: { _meta: meta, name: 'trigger-sampling-request', ...params },
        }),
      })
      return (await response.json()) as { result?: { requestState: string }; error?: object }
    }
    const { result } = await send(1, { arguments: { prompt: 'hi', maxTokens: 10 } })
    const { requestState } = result!

    expect(
      await send(2, { arguments: { prompt: 'other', maxTokens: 10 }, requestState }),
    ).toMatchObject({ error: { code: -32602 } })
  })

  describe.each(sampled(['modern-remote', 'modern-started', 'modern-stdio'], 2))(
    'of 2025-11-25 and %s',
    (name) => {
      let client: Client
      beforeAll(async () => {
        client = await behind(name, ABLE)
      })
      afterAll(() => client?.close())

      it('shake hands, and have the same tools', async () => {
        const plain = (await direct(ASKING, { ...ABLE, ...MODERN })).client

        expect(client.getNegotiatedProtocolVersion()).toBe('2025-11-25')
        expect(client.getServerVersion()).toEqual({ name: 'asking', version: '1' })
        expect(client.getInstructions()).toBe('Ask for colors.')
        expect((await client.listTools()).tools).toEqual((await plain.listTools()).tools)
        expect(await client.ping()).toEqual({})
        await plain.close()
      })

      it('ask the client within one decided call', async () => {
        const asked = answering(client)
        const before = await decisions()

        expect(textOf(await client.callTool({ name: 'paint', arguments: {} }))).toBe('red painting')
        expect(asked).toEqual(['Which?'])
        expect((await decisions()) - before).toBe(1)
      })

      it('pass progress on', async () => {
        const seen = progressSeenBy(client)
        await client.callTool({ name: 'steps', arguments: {} }, WITH_PROGRESS)

        expect([...seen.values()]).toEqual([[1]])
      })

      it('say in text what is no object', async () => {
        const result = await client.callTool({ name: 'numbers', arguments: {} })

        expect(result.structuredContent).toBeUndefined()
        expect(textOf(result)).toBe('[1,2]')
      })
    },
  )

  it('tell a client of 2025-11-25 which lists and resources of a server changed', async () => {
    const client = await behind('modern-remote', ABLE)
    const told: string[] = []
    client.setNotificationHandler('notifications/tools/list_changed', () => void told.push('tools'))
    client.setNotificationHandler(
      'notifications/resources/updated',
      ({ params }) => void told.push(params.uri),
    )
    await client.subscribeResource({ uri: 'file:///a' })
    await vi.waitFor(() => {
      asking.handler.notify.resourceUpdated('file:///a')
      asking.handler.notify.toolsChanged()
      expect(new Set(told)).toEqual(new Set(['file:///a', 'tools']))
    }, TIMEOUT)
    await client.close()
  })
})
