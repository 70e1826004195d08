import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from '../support/server.ts'
import type { RemitServer } from '../support/server.ts'
import { direct, serverProgram } from './support/gateway.ts'
import { connect, startEverything, startGateway } from './support/http.ts'
import { MODERN } from './support/messages.ts'

/** The server offers further tools to a client that samples. */
const SAMPLING = { capabilities: { sampling: {} } }

/** A server by others, which reaches nothing before a call is valid. */
const FOREIGN = join(
  dirname(createRequire(import.meta.url).resolve('@upstash/context7-mcp/package.json')),
  'dist/index.js',
)

type Connected = Awaited<ReturnType<typeof connect>>

describe.skipIf(!hasModules())('server-everything behind the gateway on HTTP', () => {
  let remit: RemitServer
  let everything: Awaited<ReturnType<typeof startEverything>>
  let gateway: Awaited<ReturnType<typeof startGateway>>

  beforeAll(async () => {
    remit = await startRemit()
    everything = await startEverything()
    const program = serverProgram('server-everything')
    gateway = await startGateway(remit, {
      agent: 'tester',
      upstreams: {
        remote: { url: everything.url },
        started: { command: process.execPath, args: [program, 'stdio'] },
        foreign: { command: process.execPath, args: [FOREIGN] },
      },
    })
  })
  afterAll(async () => {
    await gateway?.stop()
    await everything?.stop()
    await remit.stop()
  })

  describe.each(['remote', 'started'])('%s', (name) => {
    let plain: Connected
    let behind: Connected
    beforeAll(async () => {
      plain = await connect(everything.url, undefined, SAMPLING)
      behind = await connect(`${gateway.url}/mcp/${name}`, remit.org.key, SAMPLING)
    })
    afterAll(async () => {
      await plain?.client.close()
      await behind?.client.close()
    })

    it('has the same tools, prompts and resources', async () => {
      expect(await behind.client.listTools()).toEqual(await plain.client.listTools())
      expect(await behind.client.listPrompts()).toEqual(await plain.client.listPrompts())
      expect(await behind.client.listResources()).toEqual(await plain.client.listResources())
    })

    it.each([
      ['echo', { message: 'hello' }],
      ['get-tiny-image', {}],
      ['get-structured-content', { location: 'Chicago' }],
    ])('has the same result of %s', async (tool, args) => {
      const call = { name: tool, arguments: args }

      expect(await behind.client.callTool(call)).toEqual(await plain.client.callTool(call))
    })

    it('passes progress on', async () => {
      const seen: number[] = []
      const call = {
        name: 'trigger-long-running-operation',
        arguments: { duration: 0.2, steps: 2 },
      }
      await behind.client.callTool(call, { onprogress: ({ progress }) => seen.push(progress) })

      expect(seen[0]).toBe(1)
    })

    it('reads resources and prompts, with decisions', async () => {
      const { resources } = await behind.client.listResources()
      const read = { uri: resources[0]!.uri }
      const prompt = { name: 'simple-prompt' }

      expect(await behind.client.readResource(read)).toEqual(await plain.client.readResource(read))
      expect(await behind.client.getPrompt(prompt)).toEqual(await plain.client.getPrompt(prompt))
      const { data } = await remit.client.listEntries({
        query: { kind: 'authorization.decided', limit: 2 },
      })
      expect(data.map(({ action }) => action)).toEqual(['prompts/get', 'resources/read'])
    })

    it('asks the client for a sample', async () => {
      behind.client.setRequestHandler('sampling/createMessage', () => ({
        model: 'scripted',
        role: 'assistant' as const,
        content: { type: 'text' as const, text: 'a scripted answer' },
      }))
      const call = {
        name: 'trigger-sampling-request',
        arguments: { prompt: 'hi', maxTokens: 10 },
      }

      expect(JSON.stringify(await behind.client.callTool(call))).toContain('a scripted answer')
    })
  })

  it.each([
    ['2025-11-25', {}],
    ['2026-07-28', MODERN],
  ])(
    'a server by others has the same tools and results for a client of %s',
    async (revision, options) => {
      const plain = await direct([FOREIGN], options)
      const behind = await connect(`${gateway.url}/mcp/foreign`, remit.org.key, options)
      const call = { name: 'resolve-library-id', arguments: {} }

      expect(behind.client.getNegotiatedProtocolVersion()).toBe(revision)
      expect(await behind.client.listTools()).toEqual(await plain.client.listTools())
      expect(await behind.client.callTool(call)).toEqual(await plain.client.callTool(call))
      await plain.client.close()
      await behind.client.close()
    },
  )
})
