import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from '../support/server.ts'
import type { RemitServer } from '../support/server.ts'
import { startCounting, startGateway } from './support/http.ts'
import { call, envelope } from './support/messages.ts'
import { talkOnHttp } from './support/talk.ts'
import type { Talk } from './support/talk.ts'

const MAP = {
  read_file: { resource: 'file:{/path}' },
  read_docs: { resource: 'file:/srv/docs/{/path}' },
  read_in: { resource: 'file:/srv/{/folder}/{/name}.txt' },
  fetch: { resource: 'url:{/url}' },
  coaz_file: {
    authzen: {
      evaluation: {
        action: { name: 'read' },
        resource: { type: 'file', id: '$params.arguments.path' },
      },
    },
  },
  coaz_account: {
    authzen: {
      evaluation: {
        action: { name: 'payment' },
        resource: { type: 'account', id: '$params.arguments.account' },
      },
    },
  },
  coaz_amount: {
    authzen: {
      evaluation: {
        action: { name: 'payment' },
        resource: { type: 'account', id: 'a' },
        context: { amount_usd: '$params.arguments.?usd' },
      },
    },
  },
  pay: { amount: '/usd' },
}
const tool = (name: string) => ({ name, inputSchema: { type: 'object' as const } })
const SECRET = ['resource:*secret.txt']

describe.skipIf(!hasModules())('a rule sees what the server gets:', () => {
  let remit: RemitServer
  let server: Awaited<ReturnType<typeof startCounting>>
  let gateway: Awaited<ReturnType<typeof startGateway>>
  const talks: Partial<Record<'2025-11-25' | '2026-07-28', Talk>> = {}
  const policies: string[] = []

  beforeAll(async () => {
    remit = await startRemit()
    server = await startCounting({ tools: () => [...Object.keys(MAP), 'plain'].map(tool) })
    gateway = await startGateway(remit, {
      agent: 'tester',
      map: MAP,
      upstreams: { remote: { url: server.url } },
    })
    for (const revision of ['2025-11-25', '2026-07-28'] as const)
      talks[revision] = await talkOnHttp(`${gateway.url}/mcp/remote`, remit.org.key, { revision })
  })
  afterAll(async () => {
    await gateway?.stop()
    await server?.stop()
    await remit.stop()
  })
  beforeEach(() => (server.calls.length = 0))
  afterEach(async () => {
    for (const policyID of policies.splice(0))
      await remit.client.deletePolicy({ params: { policyID } })
  })

  const deny = async (resources: string[], actions: string[] = ['*']) => {
    const { id } = await remit.client.createPolicy({ body: { effect: 'deny', actions, resources } })
    policies.push(id)
  }
  const ask = (method: string, params: object, revision: keyof typeof talks = '2025-11-25') =>
    talks[revision]!.ask(method, params as Record<string, unknown>)
  const last = async () =>
    (await remit.client.listEntries({ query: { kind: 'authorization.decided', limit: 1 } })).data[0]

  it.each([
    ['file:///srv/secret.txt'],
    ['file:///srv/secret.txt '],
    ['file:///srv/secret.txt\n'],
    ['file:///srv/secret.txt\t'],
    ['file:///srv/\u00ad/../secret.txt'],
    [`file:///${'./'.repeat(130)}srv/secret.txt`],
    ['file:///srv/%73ecret.txt'],
    ['file:///srv/secret%2Etxt'],
    ['file:///srv/%2573ecret.txt'],
    ['file:///srv/secret.txt?x'],
    ['file:///srv/secret.txt#a'],
    ['file:///srv/secret.txt/'],
    ['file:///srv/pub/..%2fsecret.txt'],
    ['file:///srv\\secret.txt'],
    ['File:/srv//secret.txt'],
  ])('a denied address is denied as %j', async (uri) => {
    await deny(SECRET)

    for (const revision of ['2025-11-25', '2026-07-28'] as const)
      expect(await ask('resources/read', { uri }, revision)).toMatchObject({
        error: { code: -32001 },
      })
    expect(server.calls).toEqual([])
  })

  it('a denied name is denied as NFD, and a denied folder through others', async () => {
    await deny([
      'resource:*/Prüfung.txt',
      'resource:file:///srv/private/*',
      'resource:file:///srv/@scope/[id](1)/*',
      'resource:note:my%20secret',
      'resource:https://a.example/?path=/srv/*',
    ])

    for (const uri of [
      'file:///srv/Pru\u0308fung.txt',
      'file:///srv/Pr%C3%BCfung.txt',
      'file:///srv/./private/a.txt',
      'file:///srv/pub/../private/a.txt',
      'FILE:///srv/private/a.txt',
      'file:/srv/private/a.txt',
      'file:///srv/%40scope/%5Bid%5D%281%29/a.txt',
      'note:my secret',
      'https://a.example/?path=%2Fsrv%2Fa.txt',
    ])
      expect(await ask('resources/read', { uri })).toMatchObject({ error: { code: -32001 } })
    expect(server.calls).toEqual([])
  })

  it.each(['2025-11-25', '2026-07-28'] as const)(
    'an allowed address reaches the server as it was decided, with the escapes that came, for a client of %s',
    async (revision) => {
      const uri = 'File:///srv/%70ub/./Pr%c3%bcfung%40(1).txt'
      expect(await ask('resources/read', { uri }, revision)).toHaveProperty('result')
      expect(server.calls).toEqual(['file:///srv/pub/Pr%C3%BCfung%40(1).txt'])
      const path = 'file:///srv/pub/Prüfung@(1).txt'
      expect(await last()).toMatchObject({
        resource: `resource:${path}`,
        data: { context: { tool: path } },
      })
    },
  )

  it.each([
    ['read_file', { path: '/srv/pub/../secret.txt' }],
    ['read_file', { path: `/${'./'.repeat(130)}srv/secret.txt` }],
    ['read_file', { path: '/srv//secret.txt' }],
    ['read_file', { path: '/srv/secret.txt/' }],
    ['read_file', { path: '/srv/secret.txt ' }],
    ['read_file', { path: 'secret.txt' }],
    ['read_file', { path: '~/secret.txt' }],
    ['read_file', { path: '/srv/%73ecret.txt' }],
    ['read_docs', { path: '../secret.txt' }],
    ['read_docs', { path: '/srv/secret.txt' }],
    ['read_docs', { path: 'a/../../secret.txt' }],
    ['coaz_file', { path: '/srv/pub/../secret.txt' }],
    ['coaz_file', { path: 'secret.txt' }],
    ['read_in', { folder: '.', name: 'secret' }],
    ['read_in', { folder: '', name: 'secret' }],
    ['read_in', { folder: 'a/..', name: './secret' }],
    ['read_in', { folder: 'a', name: '../secret' }],
    ['fetch', { url: 'https://a.example/pub/../secret.txt' }],
    ['fetch', { url: 'https://a.example/%73ecret.txt#a' }],
    ['coaz_account', { account: '42 ' }],
    ['coaz_account', { account: '42\u200b' }],
    ['coaz_account', { account: 42 }],
  ])('a mapping of %s does not miss %j', async (name, args) => {
    await deny(['file:/srv/secret.txt', 'url:*secret.txt', 'account:42'])

    expect(await ask('tools/call', call(name, args))).toMatchObject({ result: { isError: true } })
    expect(server.calls).toEqual([])
  })

  it('a path below the folder of a mapping is decided whole', async () => {
    await ask('tools/call', call('read_docs', { path: './a/../b.txt' }))

    expect(await last()).toMatchObject({ resource: 'file:/srv/docs/b.txt' })
    expect(server.calls).toEqual(['read_docs'])
  })

  it.each([
    ['pay', {}],
    ['pay', { usd: null }],
    ['pay', { USD: 1000 }],
    ['pay', { usd: '1000' }],
    ['pay', { usd: [1000] }],
    ['coaz_amount', {}],
    ['coaz_amount', { usd: null }],
    ['coaz_amount', { usd: '5' }],
  ])(
    'a call of %s without the amount that its mapping names is not run: %j',
    async (name, args) => {
      expect(await ask('tools/call', call(name, args))).toMatchObject({ result: { isError: true } })
      expect(server.calls).toEqual([])
    },
  )

  it.each([[null], ['{"usd":5}'], [[]], [[{ usd: 5 }]], [5], [true]])(
    'arguments that are no object are refused: %j',
    async (args) => {
      for (const [method, params] of [
        ['tools/call', { name: 'plain' }],
        ['prompts/get', { name: 'p' }],
      ] as const)
        expect(await ask(method, { ...params, arguments: args })).toMatchObject({
          error: { code: -32602, message: 'params.arguments: must be an object.' },
        })
      expect(server.calls).toEqual([])
    },
  )

  it.each([
    ['USD', { usd: 5, USD: 5_000 }],
    ['To', { to: 'a', To: 'b' }],
    ['iſ', { is: 1, iſ: 2 }],
    ['order.lines.1.USD', { order: { lines: [{ USD: 5 }, { usd: 5, USD: 5_000 }] } }],
  ])('arguments whose names some servers take for one are refused: %s', async (place, args) => {
    const message = `params.arguments.${place}: must be a name that differs from its neighbors in more than case.`
    expect(await ask('tools/call', call('plain', args))).toMatchObject({
      error: { code: -32602, message },
    })
    expect(server.calls).toEqual([])
  })

  it.each([
    ['Mcp-Param-Account', 'b', 400],
    ['Mcp-Param-Account', '=?base64?Yg==?=', 400],
    ['Mcp-Param-Account', 'a', 200],
    ['Mcp-Param-Usd', '5', 200],
  ])(
    'a header of an argument that is not decided is refused: %s %s',
    async (name, value, status) => {
      const response = await fetch(`${gateway.url}/mcp/remote`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${remit.org.key}`,
          'content-type': 'application/json',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'plain',
          [name]: value,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { ...call('plain', { account: 'a', of: [{ usd: 5 }] }), ...envelope() },
        }),
      })

      expect(response.status).toBe(status)
      expect(server.calls).toEqual(status === 200 ? ['plain'] : [])
    },
  )

  it('further members of a request are facts of its decision', async () => {
    const meta = { route: 'B', progressToken: 7, 'claudecode/toolUseId': 'toolu_1' }
    const traceparent = ['00-00000000000000000000000000000001-0000000000000001-01']
    await ask('tools/call', {
      ...call('plain'),
      _meta: { ...meta, traceparent },
      extra: { usd: 9 },
    })

    expect(await last()).toMatchObject({
      data: { context: { meta: { route: 'B' }, params: { extra: { usd: 9 } } } },
    })
    await ask('tools/call', { ...call('plain'), _meta: { progressToken: { usd: 9 } } })
    expect(await last()).toMatchObject({
      data: { context: { meta: { progressToken: { usd: 9 } } } },
    })
  })

  it.each(['2025-11-25', '2026-07-28'] as const)(
    'the server gets the digits of an identifier from a client of %s',
    async (revision) => {
      const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => unknown }
      const [account, order] = ['1152921504606846976', '-18446744073709551616']
      const tools = () => [tool('plain')]
      const modern = await startCounting({ tools }, { legacy: 'reject' })
      const upstreams = { remote: { url: server.url }, modern: { url: modern.url } }
      const translating = await startGateway(remit, { agent: 'tester', upstreams })
      for (const [name, { texts }] of Object.entries({ remote: server, modern })) {
        const url = `${translating.url}/mcp/${name}`
        const talk = await talkOnHttp(url, remit.org.key, { revision })
        // A member of `_meta` that is dropped makes another text.
        const meta = { order: rawJSON(order), tracestate: 'a=1' }
        const args = { account: rawJSON(account) }
        const answer = await talk.ask('tools/call', { ...call('plain', args), _meta: meta })
        expect(answer).toEqual(expect.objectContaining({ result: expect.anything() }))

        const sent = texts.findLast((text) => text.includes('"tools/call"'))
        expect(sent).toContain(`"account":${account}`)
        expect(sent).toContain(`"order":${order}`)
      }
      await translating.stop()
      await modern.stop()
    },
  )
})
