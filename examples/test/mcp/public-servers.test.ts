import { createRequire } from 'node:module'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { inFullRun, pairs, runs, sampled } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../support/server.ts'
import { serverProgram } from './support/gateway.ts'
import { startGateway } from './support/http.ts'
import { call } from './support/messages.ts'
import { startRuled } from './support/ruled.ts'
import type { Ruled } from './support/ruled.ts'
import { talkOnHttp, talkOnStdio, talkWith } from './support/talk.ts'
import type { Talk } from './support/talk.ts'

const isRun = inFullRun('running public MCP servers') && hasModules()

type Request = readonly [method: string, params?: Record<string, unknown>]
type Revision = '2025-11-25' | '2026-07-28'

/** An unchanged server from npm, and requests that have the same answer each time. */
interface Public {
  readonly program: readonly string[]
  readonly env?: (copy: string) => Record<string, string>
  readonly revisions: readonly Revision[]
  readonly requests: readonly Request[]
}

const folder = mkdtempSync(join(tmpdir(), 'remit-public-'))
const FOREIGN = join(
  dirname(createRequire(import.meta.url).resolve('@upstash/context7-mcp/package.json')),
  'dist/index.js',
)
const LARGE = join(folder, 'large.txt')
const DENIED = join(folder, 'denied.txt')
const entity = { name: 'Ada', entityType: 'person', observations: ['wrote “notes”', 'é'] }

const LISTS: Request[] = [
  ['ping'],
  ['tools/list'],
  ['prompts/list'],
  ['resources/list'],
  ['resources/templates/list'],
]
const SERVERS: Record<string, Public> = {
  'server-everything': {
    program: [serverProgram('server-everything'), 'stdio'],
    revisions: ['2025-11-25'],
    requests: [
      ...LISTS,
      ['tools/call', call('echo', { message: 'hëllo \u2028 "quoted"' })],
      ['tools/call', call('get-sum', { a: 2, b: 3 })],
      ['tools/call', call('get-sum', { a: 'no number' })],
      ['tools/call', call('get-tiny-image')],
      ['tools/call', call('get-structured-content', { location: 'Chicago' })],
      ['tools/call', call('get-resource-links', { count: 3 })],
      ['tools/call', call('get-annotated-message', { messageType: 'error', includeImage: true })],
      ['resources/read', { uri: 'demo://resource/static/document/architecture.md' }],
      ['resources/read', { uri: 'demo://none' }],
      ['prompts/get', { name: 'simple-prompt' }],
      ['prompts/get', { name: 'args-prompt', arguments: { city: 'Bern' } }],
      ['logging/setLevel', { level: 'error' }],
      [
        'completion/complete',
        {
          ref: { type: 'ref/prompt', name: 'completable-prompt' },
          argument: { name: 'department', value: 'E' },
        },
      ],
    ],
  },
  'server-filesystem': {
    program: [serverProgram('server-filesystem'), folder],
    revisions: ['2025-11-25'],
    requests: [
      ...LISTS,
      ['tools/call', call('list_allowed_directories')],
      ['tools/call', call('write_file', { path: join(folder, 'a.txt'), content: 'é\r\n\u0000' })],
      ['tools/call', call('read_text_file', { path: join(folder, 'a.txt') })],
      ['tools/call', call('read_text_file', { path: LARGE })],
      ['tools/call', call('read_text_file', { path: '/etc/hostname' })],
      ['tools/call', call('list_directory', { path: folder })],
    ],
  },
  'server-memory': {
    program: [serverProgram('server-memory')],
    env: (copy) => ({ MEMORY_FILE_PATH: join(folder, `${copy}.jsonl`) }),
    revisions: ['2025-11-25'],
    requests: [
      ...LISTS,
      ['tools/call', call('create_entities', { entities: [entity] })],
      ['tools/call', call('search_nodes', { query: 'ada' })],
      ['tools/call', call('read_graph')],
      ['tools/call', call('delete_entities', { entityNames: ['Ada'] })],
      ['tools/call', call('read_graph')],
    ],
  },
  'context7-mcp, by others': {
    program: [FOREIGN],
    revisions: ['2025-11-25', '2026-07-28'],
    // It reaches nothing before a call is valid.
    requests: [...LISTS.slice(2), ['tools/call', call('resolve-library-id')]],
  },
}

/** A response without the members that one revision alone has. */
function meaningOf({ result, error }: Record<string, unknown>) {
  if (error !== undefined) return { error }
  const {
    resultType: _,
    ttlMs: __,
    cacheScope: ___,
    _meta: ____,
    ...meant
  } = result as {
    readonly [member: string]: unknown
    readonly tools?: readonly object[]
  }
  const tools = meant.tools?.map((tool) => ({ ...tool, execution: undefined }))
  return { result: { ...meant, ...(tools && { tools }) } }
}

describe.skipIf(!isRun)('unchanged public servers', () => {
  let remit: Ruled
  let gateway: Awaited<ReturnType<typeof startGateway>>
  beforeAll(async () => {
    writeFileSync(LARGE, 'A line of a large file.\n'.repeat(runs(500_000, 100_000)))
    remit = await startRuled()
    await remit.client.createPolicy({
      body: {
        effect: 'deny',
        actions: ['tools/call'],
        condition: `has(context.args.path) && context.args.path.endsWith("denied.txt")`,
      },
    })
    const entries = Object.entries(SERVERS).map(([name, { program, env }], index) => [
      `public-${index}`,
      { command: process.execPath, args: program, env: env?.(`http-${name}`) ?? {} },
    ])
    gateway = await startGateway(remit, { agent: 'tester', upstreams: Object.fromEntries(entries) })
  })
  afterAll(async () => {
    await gateway?.stop()
    await remit.stop()
    rmSync(folder, { recursive: true })
  })

  const onStdio = (name: string, revision: Revision): Promise<Talk> => {
    const { program, env } = SERVERS[name]!
    const own = env?.(`stdio-${name}`) ?? {}
    const flags = ['--agent', 'tester', '--name', name.replaceAll(' ', '-')]
    const passed = Object.keys(own).flatMap((variable) => ['--env', variable])
    return talkOnStdio(remit, program, { revision }, { flags: [...flags, ...passed], env: own })
  }
  const onHttp = (name: string, revision: Revision): Promise<Talk> => {
    const index = Object.keys(SERVERS).indexOf(name)
    return talkOnHttp(`${gateway.url}/mcp/public-${index}`, remit.org.key, { revision })
  }

  const clients = Object.entries(SERVERS).flatMap(([name, { revisions }]) =>
    revisions.map((revision) => [name, revision] as const),
  )
  const ways = [
    ['stdio', onStdio],
    ['HTTP', onHttp],
  ] as const
  it.each(pairs(sampled(clients, 2), ways).map(([client, way]) => [...client, ...way] as const))(
    '%s answers a client of %s on %s with the same bytes',
    async (...[name, revision, , open]) => {
      const { program, env, requests } = SERVERS[name]!
      const plain = await talkWith(
        program,
        { revision },
        env?.(`${revision}-plain-${Math.random()}`),
      )
      const behind = await open(name, revision)
      for (const [method, params] of requests) {
        const expected = await plain.textOf(method, params)

        expect(await behind.textOf(method, params), method).toBe(expected)
      }
      await plain.close()
      await behind.close()
    },
  )

  it.each(
    pairs(['server-filesystem', 'server-memory'], ways).map(
      ([name, way]) => [name, ...way] as const,
    ),
  )(
    '%s answers a client of 2026-07-28 on %s with the same meaning',
    async (...[name, way, open]) => {
      const { program, env, requests } = SERVERS[name]!
      const plain = await talkWith(
        program,
        { revision: '2025-11-25' },
        env?.(`translated-plain-${way}`),
      )
      const behind = await open(name, '2026-07-28')
      // The newer revision has no ping.
      for (const [method, params] of requests.slice(1)) {
        const expected = await plain.ask(method, params)

        expect(meaningOf(await behind.ask(method, params)), method).toEqual(meaningOf(expected))
      }
      await plain.close()
      await behind.close()
    },
  )

  it.each([
    ['stdio', onStdio],
    ['HTTP', onHttp],
  ])('a call on %s that is denied does not reach server-filesystem', async (_, open) => {
    const { ask, close } = await open('server-filesystem', '2025-11-25')
    const write = call('write_file', { path: DENIED, content: 'x' })

    expect(JSON.stringify(await ask('tools/call', write))).toContain('denied by Remit')
    expect(existsSync(DENIED)).toBe(false)
    const allowed = { path: join(folder, 'allowed.txt'), content: 'x' }
    await ask('tools/call', call('write_file', allowed))
    expect(readFileSync(allowed.path, 'utf8')).toBe('x')
    await close()
  })
})
