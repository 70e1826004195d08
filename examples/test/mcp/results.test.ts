import { inFullRun } from '@remit/testing/pure'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from '../support/server.ts'
import type { RemitServer } from '../support/server.ts'
import { CallFile } from './support/call-file.ts'
import { governed, ownProgram } from './support/gateway.ts'
import { connect, startGateway, startOnHttp } from './support/http.ts'
import { call, REVISIONS, textOf } from './support/messages.ts'
import { WAYS, WAYS_AND_REVISIONS } from './support/ways.ts'
import type { Way } from './support/ways.ts'

const isRun = inFullRun('results through the gateway') && hasModules()

const SERVER = [ownProgram('counting-server')]
const TIMEOUT = { timeout: 60_000 }
type Results = 'note' | 'withhold'

describe.skipIf(!isRun)('the result of a request', () => {
  const file = new CallFile()
  const env = { CALLS: file.path }
  let remit: RemitServer
  let remote: Awaited<ReturnType<typeof startOnHttp>>
  const gateways = {} as Record<Results, Awaited<ReturnType<typeof startGateway>>>

  beforeAll(async () => {
    remit = await startRemit()
    await remit.client.createPolicy({
      body: {
        effect: 'deny',
        actions: ['tools/call'],
        resources: ['tool:pay'],
        condition: 'context.guard.flagged',
      },
    })
    remote = await startOnHttp(SERVER, env)
    const ways = { remote: { url: remote.url }, started: startedServer }
    // Without sessions, findings count for all requests to a server: each revision has its own.
    const upstreams = Object.fromEntries(
      Object.entries(ways).flatMap(([way, upstream]) =>
        REVISIONS.map(([revision]) => [`${way}-${revision}`, upstream]),
      ),
    )
    for (const results of ['note', 'withhold'] as const)
      gateways[results] = await startGateway(remit, { agent: 'tester', results, upstreams })
  })
  const startedServer = { command: process.execPath, args: SERVER, env }
  afterAll(async () => {
    for (const gateway of Object.values(gateways)) await gateway.stop()
    await remote?.stop()
    await remit.stop()
    file.remove()
  })
  beforeEach(() => file.clear())

  const open = async (way: Way, results: Results, revision: string, options: object = {}) => {
    const flags = ['--agent', 'tester', '--results', results, '--env', 'CALLS']
    const { client } =
      way === 'stdio'
        ? await governed(remit, SERVER, { flags, env, ...options })
        : await connect(`${gateways[results].url}/mcp/${way}-${revision}`, remit.org.key, options)
    return client
  }

  describe.each(WAYS_AND_REVISIONS)('on %s, for a client of %s,', (way, revision, options) => {
    it.each([
      ['tool', (client: Client) => client.callTool(call('poison'))],
      ['resource', (client: Client) => client.readResource({ uri: 'counting://poison' })],
      ['prompt', (client: Client) => client.getPrompt({ name: 'poison' })],
    ])('of a %s that the guard blocks is withheld where it is asked to', async (kind, ask) => {
      const client = await open(way, 'withhold', revision, options)
      const seen = await ask(client).catch((error: unknown) => error)

      expect(JSON.stringify(seen) + String(seen)).not.toContain('evil@example.org')
      const message = expect.stringMatching(
        /Withheld by the guard of Remit \(.*injection/,
      ) as string
      expect(seen).toMatchObject(
        kind === 'tool'
          ? { isError: true, content: [{ text: message }] }
          : { code: -32001, message },
      )
      expect(file.calls).toHaveLength(1)
      await client.close()
    })

    it('that the guard blocks is a fact of the later decisions of the session', async () => {
      const client = await open(way, 'note', revision, options)

      expect(textOf(await client.callTool(call('pay')))).toBe('pay {}')
      expect(textOf(await client.callTool(call('poison')))).toMatch(/^Ignore/)
      expect(textOf(await client.callTool(call('pay')))).toMatch(/denied by Remit/)
      expect(textOf(await client.callTool(call('refund')))).toBe('refund {}')
      expect(file.calls).toEqual(['pay', 'poison', 'refund'])
      await client.close()
    })
  })

  it.each(WAYS)('of more than 64 MiB fails on %s, with an unknown outcome', async (way) => {
    const client = await open(way, 'note', '2025-11-25')

    await expect(client.callTool(call('huge'))).rejects.toMatchObject({ code: -32603 })
    const newest = async () =>
      (await remit.client.listEntries({ query: { kind: 'entry.appended', limit: 1 } })).data[0]
    await expect.poll(async () => (await newest())?.data?.['outcome'], TIMEOUT).toBe('unknown')
    expect(file.calls).toEqual(['huge'])
    await client.close()
  })
})

type Client = Awaited<ReturnType<typeof connect>>['client']
