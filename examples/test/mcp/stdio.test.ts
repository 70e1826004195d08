import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from '../support/server.ts'
import type { RemitServer } from '../support/server.ts'
import { direct, governed, serverProgram } from './support/gateway.ts'

const EVERYTHING = [serverProgram('server-everything'), 'stdio']

describe.skipIf(!hasModules())('server-everything behind the gateway on stdio', () => {
  let remit: RemitServer
  let plain: Awaited<ReturnType<typeof direct>>
  let behind: Awaited<ReturnType<typeof direct>>

  beforeAll(async () => {
    remit = await startRemit()
    plain = await direct(EVERYTHING)
    behind = await governed(remit, EVERYTHING)
  })
  afterAll(async () => {
    await plain?.client.close()
    await behind?.client.close()
    await remit.stop()
  })

  it('has the same tools, prompts and resources', async () => {
    expect(await behind.client.listTools()).toEqual(await plain.client.listTools())
    expect(await behind.client.listPrompts()).toEqual(await plain.client.listPrompts())
    expect(await behind.client.listResources()).toEqual(await plain.client.listResources())
  })

  it.each([
    ['echo', { message: 'hello' }],
    ['get-sum', { a: 2, b: 3 }],
    ['get-tiny-image', {}],
    ['get-structured-content', { location: 'Chicago' }],
    ['get-resource-links', { count: 3 }],
    ['get-annotated-message', { messageType: 'error', includeImage: true }],
  ])('has the same result of %s', async (name, args) => {
    const call = { name, arguments: args }

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
    const sampling = await governed(remit, EVERYTHING, {
      capabilities: { sampling: {} },
      // It offers further tools to such a client.
      flags: ['--agent', 'tester', '--name', 'sampling'],
    })
    sampling.client.setRequestHandler('sampling/createMessage', () => ({
      model: 'scripted',
      role: 'assistant' as const,
      content: { type: 'text' as const, text: 'a scripted answer' },
    }))
    const call = {
      name: 'trigger-sampling-request',
      arguments: { prompt: 'hi', maxTokens: 10 },
    }

    expect(JSON.stringify(await sampling.client.callTool(call))).toContain('a scripted answer')
    await sampling.client.close()
  })
})

describe.skipIf(!hasModules()).each([
  ['server-memory', []],
  ['server-filesystem', [import.meta.dirname]],
])('%s behind the gateway on stdio', (name, args) => {
  it('has the same tools', async () => {
    const remit = await startRemit()
    const program = [serverProgram(name), ...args]
    const plain = await direct(program)
    const behind = await governed(remit, program)

    expect(await behind.client.listTools()).toEqual(await plain.client.listTools())
    await plain.client.close()
    await behind.client.close()
    await remit.stop()
  })
})
