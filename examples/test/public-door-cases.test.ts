import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { runInThisContext } from 'node:vm'
import { createClient, createGate } from '@remit/sdk'
import type { GateOptions } from '@remit/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Definition } from './mcp/support/counting.ts'
import { serverProgram } from './mcp/support/gateway.ts'
import { startCounting, startGateway } from './mcp/support/http.ts'
import { call, textOf } from './mcp/support/messages.ts'
import { talkOnHttp } from './mcp/support/talk.ts'
import { hasPublicCases, partsOf, PUBLIC_CASES } from './support/public-cases.ts'
import type { HttpCall, PublicCase } from './support/public-cases.ts'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

interface GatewayCall {
  readonly gateway: string
  readonly params?: { readonly name: string; readonly arguments: Record<string, unknown> }
}
interface SdkCall {
  readonly sdk: 'typescript' | 'python'
  readonly tool: string
  readonly map?: NonNullable<GateOptions['map']>
  /** An expression, or what a program does with the wrapped tool. */
  readonly input_js: string
}

const casesOf = (isOfDoor: (call: object) => boolean) =>
  PUBLIC_CASES.filter((one) => isOfDoor(partsOf(one).call))
const GATEWAY_CASES = casesOf(
  (one) => 'gateway' in one && typeof one.gateway === 'string' && !('mcp' in one),
)
const SDK_CASES = casesOf((one) => 'sdk' in one)
const run = promisify(execFile)
const hasPython = spawnSync('python3', ['--version']).status === 0
const HANDSHAKE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'raw', version: '1' },
}

describe.skipIf(!hasPublicCases || !hasModules())('situations from public bug reports', () => {
  let remit: RemitServer
  beforeAll(async () => {
    remit = await startRemit()
  })
  afterEach(() => vi.useRealTimers())
  afterAll(() => remit.stop())

  /** An organization with the rules of a case. */
  async function prepared(one: PublicCase) {
    const org = await remit.remit.organization()
    for (const step of partsOf(one).setup) {
      const { method, path, body } = step as HttpCall
      const headers = { authorization: `Bearer ${org.key}`, 'content-type': 'application/json' }
      const text = JSON.stringify(body)
      const response = await fetch(`${remit.url}${path}`, { method, headers, body: text })
      expect(response.status, await response.text()).toBeLessThan(300)
    }
    const client = createClient({ baseUrl: remit.url, key: org.key })
    const pending = async () =>
      (await client.listApprovals({ query: { status: 'pending' } })).data.map(({ id }) => id)
    const approve = async (requestID = '') => {
      const params = { requestID: requestID || ((await pending())[0] ?? '') }
      await client.decideApproval({ params, body: { decision: 'approve', approver: 'carol' } })
    }
    return { org, client, approve, pending }
  }

  describe('behind the gateway', () => {
    /** The gateway in front of a server whose calls are counted. */
    async function started(one: PublicCase, upstream?: object) {
      const made = await prepared(one)
      let listed: readonly Definition[] | null = null
      const server = await startCounting({ tools: () => listed })
      const gateway = await startGateway(
        { url: remit.url, org: made.org },
        { agent: 'coder', upstreams: { one: upstream ?? { url: server.url } } },
      )
      const url = `${gateway.url}/mcp/one`
      const send = (method: string, headers: Record<string, string>, message?: object) =>
        fetch(url, {
          method,
          headers: {
            authorization: `Bearer ${made.org.key}`,
            'content-type': 'application/json',
            ...headers,
          },
          ...(message && { body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }) }),
        })
      const initialize = (headers: Record<string, string>) =>
        send('POST', headers, { method: 'initialize', params: HANDSHAKE })
      return {
        ...made,
        server,
        send,
        initialize,
        talk: () => talkOnHttp(url, made.org.key, { revision: '2025-11-25' }),
        offer: (tools: readonly Definition[]) => {
          listed = tools
        },
        session: async () => {
          const response = await initialize({ accept: 'application/json' })
          await response.text()
          return {
            accept: 'application/json',
            'mcp-session-id': response.headers.get('mcp-session-id') ?? '',
          }
        },
        async stop() {
          await gateway.stop()
          await server.stop()
        },
      }
    }
    type Started = Awaited<ReturnType<typeof started>>

    /** An upstream on pipes has an event stream; one on HTTP that makes a session for each request has none. */
    const STREAMING = {
      command: process.execPath,
      args: [join(import.meta.dirname, 'mcp/support/lax-server.ts')],
    }
    const folder = mkdtempSync(join(tmpdir(), 'remit-case-'))
    afterAll(() => rmSync(folder, { recursive: true }))

    const RUNS: Record<string, (at: Started, one: PublicCase) => Promise<unknown>> = {
      async 'mcp-accept-json'({ initialize }) {
        return { status: (await initialize({ accept: 'application/json' })).status }
      },
      // `fetch` sends `*/*` where a program says nothing; an empty list is as close as it comes.
      async 'mcp-accept-none'({ initialize }) {
        return { status: (await initialize({ accept: '' })).status }
      },
      async 'mcp-session-gone'({ send }) {
        const headers = { 'mcp-session-id': 'f3f1c8a2-0000-4000-8000-000000000000' }
        return { status: (await send('POST', headers, { method: 'tools/list' })).status }
      },
      async 'mcp-heartbeat'({ send, session }) {
        const headers = { ...(await session()), accept: 'text/event-stream' }
        vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
        const reader = (await send('GET', headers)).body!.getReader()
        for (let idle = 0; idle < 95; idle += 15) {
          vi.advanceTimersByTime(15_000)
          const { value = [] } = await reader.read()
          expect(Buffer.from(value).toString()).toBe(':\n\n')
        }
        await reader.cancel()
        return { 'bytes every s': 15 }
      },
      async 'mcp-stream-reopened'({ send, session }) {
        const headers = { ...(await session()), accept: 'text/event-stream' }
        await (await send('GET', headers)).body?.cancel()
        const again = await send('GET', headers)
        await again.body?.cancel()
        return { status: again.status }
      },
      async 'mcp-key-order'({ offer, talk }) {
        const of = (inputSchema: Definition['inputSchema']) => [{ name: 'pay', inputSchema }]
        const [to, usd] = [{ type: 'string' }, { type: 'number', description: 'in USD' }]
        offer(of({ type: 'object', properties: { to, usd } }))
        const client = await talk()
        const names = async () => {
          const { result } = await client.ask('tools/list')
          return (result as { tools: { name: string }[] }).tools.map(({ name }) => name)
        }
        expect(await names()).toEqual(['pay'])
        const swapped = { description: 'in USD', type: 'number' }
        offer(of({ properties: { usd: swapped, to }, type: 'object' }))
        const listed = await names()
        offer(of({ type: 'object', properties: { to, usd: { type: 'string' } } }))
        expect(await names()).toEqual([])
        return { 'tool listed': listed.length === 1 }
      },
      async 'mcp-cancel-held'({ client, send, session, approve, pending, server }) {
        await client.setApprovalRule({ params: { id: 'all' }, body: { actions: ['tools/call'] } })
        const headers = await session()
        const held = send('POST', headers, { method: 'tools/call', params: call('pay') })
        await expect.poll(pending, { timeout: 60_000 }).toHaveLength(1)
        const [id] = await pending()
        const params = { requestId: 1 }
        await send('POST', headers, { id: undefined, method: 'notifications/cancelled', params })
        await held
        await expect.poll(pending, { timeout: 60_000 }).toEqual([])
        await expect(approve(id)).rejects.toMatchObject({ status: 409 })
        return { 'runs of the tool': server.calls.length }
      },
      async 'args-gateway-deep'({ offer, talk }, one) {
        offer([{ name: 'pay', inputSchema: { type: 'object' } }])
        const { params } = partsOf(one).call as GatewayCall
        return (await talk()).ask('tools/call', { ...params })
      },
      async 'args-guard-overwritten'({ talk, server }) {
        const client = await talk()
        await client.ask('tools/call', call('poison'))
        const deep = JSON.parse('['.repeat(32) + ']'.repeat(32)) as unknown
        const answer = await client.ask('tools/call', call('pay', { memo: deep }))
        expect(server.calls).toEqual(['poison'])
        return answer
      },
      async 'args-stock-filesystem'({ talk }, one) {
        const { params } = partsOf(one).call as GatewayCall
        const path = join(folder, 'secret.txt')
        const args = { ...params?.arguments, path }
        const client = await talk()
        const { result } = await client.ask('tools/call', call('write_file', args))
        expect(textOf(result)).toContain('denied')
        const other = { ...args, path: join(folder, 'open.txt'), memo: [] }
        await client.ask('tools/call', call('write_file', other))
        expect(existsSync(other.path)).toBe(true)
        return { result, 'file written': existsSync(path) }
      },
    }
    const UPSTREAMS: Record<string, () => object> = {
      'mcp-heartbeat': () => STREAMING,
      'mcp-stream-reopened': () => STREAMING,
      'args-stock-filesystem': () => ({
        command: process.execPath,
        args: [serverProgram('server-filesystem'), folder],
      }),
    }

    it('all have a test here', () => {
      expect(GATEWAY_CASES.map(({ id }) => id).filter((id) => !RUNS[id])).toEqual([])
    })

    it.each(GATEWAY_CASES.map((one) => [one.id, one] as const))('%s', async (id, one) => {
      const at = await started(one, UPSTREAMS[id]?.())
      try {
        const found = await RUNS[id]!(at, one)
        for (const [path, value] of Object.entries(one.expect))
          expect(found).toHaveProperty(path === 'result.isError' ? path : [path], value)
      } finally {
        await at.stop()
      }
    })
  })

  describe('in a program with the SDK', () => {
    const valueOf = (text: string): unknown => runInThisContext(`(${text})`) as unknown
    /** The input of a case, and the one that a person approved before. */
    const inputsOf = (js: string) => js.split(' after the approval of ') as [string, string?]

    /** The inputs that the tool received, of the changed call and then of the approved one. */
    interface Received {
      readonly ran: readonly unknown[]
      readonly approved?: readonly unknown[]
    }

    async function inTypeScript(one: PublicCase): Promise<Received> {
      const { client, approve } = await prepared(one)
      const { tool, map, input_js: js } = partsOf(one).call as SdkCall
      const approval = { mode: 'return' } as const
      const gate = createGate({ client, agentId: 'coder', approval, ...(map && { map }) })
      const ran: unknown[] = []
      const wrapped = gate.wrap(tool, (input: unknown) => ran.push(input), { onDeny: 'return' })
      if (js.includes('wrapped(')) {
        await (valueOf(`async (wrapped) => { let m, p; ${js} }`) as typeof wrapped)(wrapped)
        return { ran }
      }
      const [input, approved] = inputsOf(js)
      if (approved === undefined) {
        await wrapped(valueOf(input))
        return { ran }
      }
      await wrapped(valueOf(approved))
      await approve()
      await wrapped(valueOf(input))
      const before = ran.splice(0)
      await wrapped(valueOf(approved))
      return { ran: before, approved: ran }
    }

    async function inPython(one: PublicCase): Promise<Received> {
      const { org, approve } = await prepared(one)
      const { tool, map = {}, input_js: js } = partsOf(one).call as SdkCall
      const options = 'agent_id="coder", approval={"mode": "return"}, map=json.loads(sys.argv[1])'
      const python = async (...program: readonly string[]) => {
        const lines = [
          'import json, os, sys',
          'from remit import Client, Gate, RemitDenied',
          `gate = Gate(Client(os.environ["REMIT_URL"], os.environ["REMIT_KEY"]), ${options})`,
          'ran = []',
          ...program,
          'print(json.dumps(ran))',
        ]
        const args = ['-c', lines.join('\n'), JSON.stringify(map)]
        const { stdout } = await run('python3', args, {
          cwd: resolve(import.meta.dirname, '../../sdks/python'),
          env: {
            PATH: process.env['PATH'],
            PYTHONPATH: 'src',
            PYTHONDONTWRITEBYTECODE: '1',
            REMIT_URL: remit.url,
            REMIT_KEY: org.key,
          },
        })
        return JSON.parse(stdout) as unknown[]
      }
      if (js.startsWith('def ')) {
        const [definition, called] = js.split('; ')
        const tried = ['try:', `  ${called}`, 'except RemitDenied:', '  pass']
        return {
          ran: await python(
            `@gate.tool(name="${tool}")`,
            `${definition}: ran.append({"usd": usd})`,
            ...tried,
          ),
        }
      }
      const ask = (text = '') => {
        const input = JSON.stringify(JSON.stringify(valueOf(text)))
        return python(`gate.run("${tool}", json.loads(${input}), ran.append)`)
      }
      const [input, approved] = inputsOf(js)
      await ask(approved)
      await approve()
      return { ran: await ask(input), approved: await ask(approved) }
    }

    it.for(SDK_CASES.map((one) => [one.id, one] as const))('%s', async ([, one], { skip }) => {
      const { sdk, input_js: js } = partsOf(one).call as SdkCall
      if (sdk === 'python' && !hasPython) skip('python3 is missing')
      const { ran, approved } = await (sdk === 'python' ? inPython(one) : inTypeScript(one))
      // The rule of a case that allows another input to run denies every amount above 1,000.
      const mayRun = (input: unknown) =>
        one.expect['or'] === 'ran with the decided input' &&
        Number((input as { usd?: unknown }).usd) <= 1000

      expect(ran.filter((input) => !mayRun(input))).toEqual([])
      const [, given] = inputsOf(js)
      // The approval is still there for what was approved.
      expect(approved).toEqual(given === undefined ? undefined : [valueOf(given)])
    })
  })
})
