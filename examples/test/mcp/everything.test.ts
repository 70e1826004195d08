import { inFullRun } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../support/server.ts'
import { governed, serverProgram } from './support/gateway.ts'
import { connect, startEverything, startGateway } from './support/http.ts'
import { call, progressSeenBy, WITH_PROGRESS } from './support/messages.ts'
import { startRuled } from './support/ruled.ts'
import type { Ruled } from './support/ruled.ts'

const isRun = inFullRun('server-everything') && hasModules()

const PROGRAM = [serverProgram('server-everything'), 'stdio']
/** The server offers further tools to a client that samples. */
const SAMPLING = { capabilities: { sampling: {} } }
const TIMEOUT = { timeout: 60_000 }

type Client = Awaited<ReturnType<typeof connect>>['client']

describe.skipIf(!isRun)('server-everything behind the gateway', () => {
  let remit: Ruled
  let remote: Awaited<ReturnType<typeof startEverything>>
  let gateway: Awaited<ReturnType<typeof startGateway>>
  beforeAll(async () => {
    remit = await startRuled()
    remote = await startEverything()
    gateway = await startGateway(remit, {
      agent: 'tester',
      upstreams: {
        remote: { url: remote.url },
        started: { command: process.execPath, args: PROGRAM },
      },
    })
  })
  afterAll(async () => {
    await gateway?.stop()
    await remote?.stop()
    await remit.stop()
  })

  const onHttp = (name: string) => connect(`${gateway.url}/mcp/${name}`, remit.org.key, SAMPLING)
  describe.each([
    ['on stdio', () => governed(remit, PROGRAM, SAMPLING)],
    ['on HTTP, started', () => onHttp('started')],
    ['on HTTP, remote', () => onHttp('remote')],
  ])('%s', (_, open) => {
    let plain: Client
    let behind: Client
    beforeAll(async () => {
      ;({ client: plain } = await connect(remote.url, undefined, SAMPLING))
      ;({ client: behind } = await open())
      behind.setRequestHandler('sampling/createMessage', ({ params }) => ({
        model: 'scripted',
        role: 'assistant' as const,
        content: { type: 'text' as const, text: `answer of ${params.maxTokens} tokens` },
      }))
    })
    afterAll(async () => {
      await plain?.close()
      await behind?.close()
    })

    it('has the same tools, prompts and resources', async () => {
      expect(await behind.listTools()).toEqual(await plain.listTools())
      expect(await behind.listPrompts()).toEqual(await plain.listPrompts())
      expect(await behind.listResources()).toEqual(await plain.listResources())
    })

    it('passes progress on', async () => {
      const seen = progressSeenBy(behind)
      const long = call('trigger-long-running-operation', { duration: 0.2, steps: 2 })
      await behind.callTool(long, WITH_PROGRESS)

      expect([...seen.values()].map(([first]) => first)).toEqual([1])
    })

    it('reads resources and prompts, with decisions', async () => {
      const { resources } = await behind.listResources()
      const read = { uri: resources[0]!.uri }
      const prompt = { name: 'simple-prompt' }

      expect(await behind.readResource(read)).toEqual(await plain.readResource(read))
      expect(await behind.getPrompt(prompt)).toEqual(await plain.getPrompt(prompt))
      expect((await remit.decisions(2)).map(({ action }) => action)).toEqual([
        'prompts/get',
        'resources/read',
      ])
    })

    it('asks the client for a sample', async () => {
      const sampling = call('trigger-sampling-request', { prompt: 'hi', maxTokens: 10 })

      expect(JSON.stringify(await behind.callTool(sampling))).toContain('answer of 10 tokens')
    })

    it('goes on after a call that the client cancels, whose outcome is unknown', async () => {
      const cancelled = new AbortController()
      const [before] = await remit.decisions(1)
      const long = behind.callTool(
        call('trigger-long-running-operation', { duration: 600, steps: 600 }),
        { signal: cancelled.signal },
      )
      await expect
        .poll(async () => (await remit.decisions(1))[0]?.seq, TIMEOUT)
        .not.toBe(before?.seq)
      const [decided] = await remit.decisions(1)
      cancelled.abort(new Error('enough'))

      await expect(long).rejects.toThrow('enough')
      await expect
        .poll(async () => (await remit.outcomes())[0]?.data, TIMEOUT)
        .toMatchObject({ decision_id: decided?.data?.['decision_id'], outcome: 'unknown' })
      const sum = call('get-sum', { a: 2, b: 3 })
      expect(await behind.callTool(sum)).toEqual(await plain.callTool(sum))
    })
  })
})
