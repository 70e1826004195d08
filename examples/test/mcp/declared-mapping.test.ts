import { inFullRun, pairs } from '@remit/testing/pure'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from '../support/server.ts'
import type { RemitServer } from '../support/server.ts'
import { CallFile } from './support/call-file.ts'
import type { Definition } from './support/counting.ts'
import { governed, ownProgram } from './support/gateway.ts'
import { connect, startGateway, startOnHttp } from './support/http.ts'
import { call, REVISIONS, textOf } from './support/messages.ts'

const isRun = inFullRun('mappings that MCP tools declare') && hasModules()

const SERVER = [ownProgram('counting-server')]
const WAYS = ['stdio', 'HTTP'] as const
type Way = (typeof WAYS)[number]
const CASES = pairs(WAYS, REVISIONS).map(([way, revision]) => [way, ...revision] as const)

const declaring = (action: string, region = 'EU'): Definition => ({
  name: 'pay',
  description: 'Pays',
  inputSchema: {
    type: 'object',
    'x-authzen-mapping': {
      evaluation: {
        subject: { type: 'identity', id: '$token.sub' },
        action: { name: action },
        resource: { type: 'account', id: '$params.arguments.account' },
        context: { region, note: '$params.arguments.?note', upstream: 'of the mapping' },
      },
    },
  },
})
const PAY = declaring("$params.arguments.usd > 100.0 ? 'large_payment' : 'payment'")
const ARGS = { usd: 5, account: 'a1', note: 'hello' }

describe.skipIf(!isRun)('a tool that declares a mapping of AuthZEN', () => {
  const file = new CallFile()
  const env = { CALLS: file.path, TOOLS: file.tools }
  const NAMES = Array.from({ length: 20 }, (_, index) => `server-${index}`)
  let used = 0
  let name = ''
  let remit: RemitServer
  let remote: Awaited<ReturnType<typeof startOnHttp>>
  const gateways: Awaited<ReturnType<typeof startGateway>>[] = []
  /** A gateway for each configured mapping of `pay`. */
  const start = async (map: object) => {
    const upstreams = Object.fromEntries(NAMES.map((server) => [server, { url: remote.url }]))
    const gateway = await startGateway(remit, { agent: 'tester', map, upstreams })
    gateways.push(gateway)
    return gateway
  }
  let plain: Awaited<ReturnType<typeof startGateway>>

  beforeAll(async () => {
    remit = await startRemit()
    await remit.client.createPolicy({
      body: { effect: 'deny', actions: ['large_payment'], resources: ['account:a1'] },
    })
    remote = await startOnHttp(SERVER, env)
    plain = await start({})
  })
  afterAll(async () => {
    for (const gateway of gateways) await gateway.stop()
    await remote?.stop()
    await remit.stop()
    file.remove()
  })
  beforeEach(() => {
    file.clear()
    name = NAMES[used++]!
  })

  const open = async (way: Way, options: object = {}, gateway = plain) => {
    const flags = ['--agent', 'tester', '--env', 'CALLS', '--env', 'TOOLS', '--name', name]
    const { client } =
      way === 'stdio'
        ? await governed(remit, SERVER, { flags, env, ...options })
        : await connect(`${gateway.url}/mcp/${name}`, remit.org.key, options)
    await client.listTools()
    return client
  }
  /** Pins the mapping after the gateway has reported the tool, for the sessions that begin later. */
  const pin = async (way: Way, mapping: 'default' | 'declared' = 'declared') => {
    await (await open(way)).close()
    const { data } = await remit.client.listMcpTools({ query: { upstream: name } })
    const { id, digest } = data.find((tool) => tool.name === 'pay')!
    await remit.client.admitMcpTool({ params: { id }, body: { digest, mapping } })
  }
  const last = async () =>
    (await remit.client.listEntries({ query: { kind: 'authorization.decided', limit: 1 } })).data[0]
  const DEFAULT = { action: 'tools/call', resource: 'tool:pay' }

  describe.each(CASES)('on %s, for a client of %s', (way, _, options) => {
    it('is decided by default until an administrator pins the mapping, then by that', async () => {
      file.offer([PAY])
      const first = await open(way, options)
      await first.callTool(call('pay', ARGS))
      expect(await last()).toMatchObject(DEFAULT)
      await first.close()
      // A gateway on HTTP reads the states of its tools again after 30 seconds; this one is new.
      await pin(way)
      const gateway = way === 'HTTP' ? await start({}) : plain

      const later = await open(way, options, gateway)
      await later.callTool(call('pay', ARGS))
      expect(await last()).toMatchObject({
        action: 'payment',
        resource: 'account:a1',
        data: { context: { region: 'EU', note: 'hello', upstream: name, tool: 'pay' } },
      })
      const denied = await later.callTool(call('pay', { ...ARGS, usd: 500 }))
      expect(denied.isError).toBe(true)
      expect(file.calls).toEqual(['pay', 'pay'])
      await later.close()
    })
  })

  describe.each(WAYS)('on %s', (way) => {
    it('waits for an administrator after another declaration, which does not count', async () => {
      file.offer([PAY])
      await pin(way)
      const gateway = await start({})
      const client = await open(way, {}, gateway)
      file.offer([declaring('payment')])

      expect((await client.listTools()).tools).toEqual([])
      const answer = await client.callTool(call('pay', { ...ARGS, usd: 500 }))
      expect(textOf(answer)).toContain('not admitted (changed)')
      expect(file.calls).toEqual([])
      await client.close()
    })

    it('is refused where the pinned mapping does not fit the arguments', async () => {
      file.offer([PAY])
      await pin(way)
      const client = await open(way, {}, await start({}))

      const answer = await client.callTool(call('pay', { usd: 5 }))
      expect(answer.isError).toBe(true)
      expect(textOf(answer)).toContain('evaluation.resource.id')
      expect(file.calls).toEqual([])
      await client.close()
    })
  })

  it.each([
    ['action', { action: 'pay.own' }, { action: 'pay.own', resource: 'tool:pay' }],
    ['resource', { resource: 'own:{/account}' }, { action: 'tools/call', resource: 'own:a1' }],
    [
      'mapping',
      {
        authzen: {
          evaluation: { action: { name: 'own' }, resource: { type: 'own', id: '$params.name' } },
        },
      },
      { action: 'own', resource: 'own:pay' },
    ],
  ])('is decided by a configured %s, also where its own is pinned', async (_, own, expected) => {
    file.offer([PAY])
    await pin('HTTP')
    const client = await open('HTTP', {}, await start({ pay: own }))
    await client.callTool(call('pay', ARGS))

    expect(await last()).toMatchObject(expected)
    await client.close()
  })

  it('gives Remit no argument that the configuration leaves out', async () => {
    file.offer([PAY])
    await pin('HTTP')
    const client = await open('HTTP', {}, await start({ pay: { amount: '/usd', omit: ['/note'] } }))
    await client.callTool(call('pay', ARGS))

    const entry = await last()
    expect(entry).toMatchObject({
      action: 'payment',
      data: { context: { amount_usd: 5, args: { account: 'a1' } } },
    })
    expect(JSON.stringify(entry)).not.toContain('hello')
    expect(file.calls).toEqual(['pay'])
    await client.close()
  })

  it('is not hidden by permissions for the default, which its pinned mapping replaces', async () => {
    const params = { id: 'no-pay' }
    await remit.client.grantPermission({
      params,
      body: { agent_id: 'tester', effect: 'deny', resources: ['tool:pay'] },
    })
    file.offer([PAY])
    const before = await open('HTTP', {}, await start({}))
    expect((await before.listTools()).tools).toEqual([])
    await before.close()
    await pin('HTTP')

    const client = await open('HTTP', {}, await start({}))
    expect((await client.listTools()).tools).toHaveLength(1)
    expect((await client.callTool(call('pay', ARGS))).isError).toBeFalsy()
    await client.close()
    await remit.client.revokePermission({ params })
  })
})
