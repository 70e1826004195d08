import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fitted } from '@remit/contract/fit'
import type { Json, JsonObject } from '@remit/contract/fit'
import { someForms, someLargeContexts } from '@remit/testing/large-calls'
import { runs, sampled } from '@remit/testing/pure'
import { createMcpGate } from '@remit/mcp'
import { InMemoryTransport } from '@modelcontextprotocol/server'
import { createGate } from '@remit/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CallFile } from './mcp/support/call-file.ts'
import { countingServer } from './mcp/support/counting.ts'
import { ownProgram } from './mcp/support/gateway.ts'
import { startCounting, startGateway } from './mcp/support/http.ts'
import { talkOnHttp, talkOnStdio } from './mcp/support/talk.ts'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

const hasPython = spawnSync('python3', ['--version']).status === 0

/** The input that the tool received; undefined if it did not run. */
type Received = { readonly args: unknown } | undefined

/** A way to a tool. */
interface Door {
  readonly call: (tool: string, args: Json) => Promise<Received>
  /** The context of a call by its documentation, without any limit. */
  readonly contextOf: (tool: string, args: Json) => JsonObject
  readonly close?: () => unknown
}

const FORMS = someForms(60)
const TOOLS = FORMS.map((_, i) => `t${i}`)
/** For gates whose action is else the name of the tool. */
const MAP = Object.fromEntries(
  TOOLS.map((tool) => [tool, { action: 'tools/call', resource: `tool:${tool}` }]),
)
const DEFINITIONS = TOOLS.map((name) => ({ name, inputSchema: { type: 'object' as const } }))

const ofGate = (tool: string, args: Json): JsonObject => ({ args: args ?? {}, tool })
const ofGateway = (tool: string, args: Json): JsonObject => ({
  ...ofGate(tool, args),
  guard: { flagged: false, reasons: [] },
})

/** The arguments in the result of `countingServer`. */
function receivedIn({ result }: { result?: unknown }): Received {
  const { content, isError } = (result ?? {}) as { content?: { text: string }[]; isError?: boolean }
  const text = content?.[0]?.text
  if (text === undefined || isError === true) return undefined
  return { args: JSON.parse(text.slice(text.indexOf(' '))) as unknown }
}

/** A random rule, where there is one by preference one that what was sent would pass and the whole call does not. */
function ruleFor(whole: JsonObject, sent: JsonObject): number {
  const any = Math.floor(Math.random() * FORMS.length)
  const telling = FORMS.flatMap(({ says }, at) =>
    says(sent) === false && says(whole) !== false ? [at] : [],
  )
  return Math.random() < 0.6 ? (telling[any % telling.length] ?? any) : any
}

/** Without the member that the SDK of MCP leaves out. */
const ordinary = (args: unknown): unknown =>
  JSON.parse(
    JSON.stringify(args, (name, value: unknown) => (name === '__proto__' ? undefined : value)),
  )

const sdk = ({ client }: RemitServer): Door => {
  const gate = createGate({ client, agentId: 'payer', map: MAP, approval: { mode: 'return' } })
  return {
    contextOf: ofGate,
    async call(tool, input) {
      const done = await gate.run({ tool, input }, (args: unknown) => ({ args }))
      return done.kind === 'ran' ? done.result : undefined
    },
  }
}

const python = ({ url, org }: RemitServer): Door => {
  const child = spawn('python3', ['tests/asking.py', JSON.stringify(MAP)], {
    cwd: resolve(import.meta.dirname, '../../sdks/python'),
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      PYTHONPATH: 'src',
      PYTHONDONTWRITEBYTECODE: '1',
      REMIT_URL: url,
      REMIT_KEY: org.key,
    },
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    contextOf: ofGate,
    async call(tool, input) {
      child.stdin.write(`${JSON.stringify({ tool, input })}\n`)
      const { value } = await lines.next()
      const { kind, ran } = JSON.parse(value as string) as { kind: string; ran: unknown }
      return kind === 'ran' ? { args: ran } : undefined
    },
    async close() {
      const ended = once(child, 'close')
      child.stdin.end()
      await ended
    },
  }
}

const gatewayOnPipes =
  (revision: '2025-11-25' | '2026-07-28') =>
  async (remit: RemitServer): Promise<Door> => {
    const file = new CallFile()
    file.offer(DEFINITIONS)
    const flags = ['--agent', 'payer', '--env', 'CALLS', '--env', 'TOOLS', '--hold', '0']
    const talk = await talkOnStdio(
      remit,
      [ownProgram('counting-server')],
      { revision },
      {
        flags: [...flags, '--results', 'off'],
        env: { CALLS: file.path, TOOLS: file.tools },
      },
    )
    return {
      contextOf: ofGateway,
      call: async (name, args) =>
        receivedIn(await talk.ask('tools/call', { name, arguments: args })),
      async close() {
        await talk.close()
        file.remove()
      },
    }
  }

const gatewayOnHttp =
  (revision: '2025-11-25' | '2026-07-28') =>
  async (remit: RemitServer): Promise<Door> => {
    const server = await startCounting({ tools: () => DEFINITIONS })
    const gateway = await startGateway(remit, {
      agent: 'payer',
      hold_seconds: 0,
      results: 'off',
      upstreams: { remote: { url: server.url } },
    })
    const talk = await talkOnHttp(`${gateway.url}/mcp/remote`, remit.org.key, { revision })
    return {
      contextOf: ofGateway,
      call: async (name, args) =>
        receivedIn(await talk.ask('tools/call', { name, arguments: args })),
      async close() {
        await gateway.stop()
        await server.stop()
      },
    }
  }

const ownServer = async ({ url, org }: RemitServer): Promise<Door> => {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const server = countingServer({ called: () => undefined, tools: () => DEFINITIONS })
  const options = { url, key: org.key, agentId: 'payer', name: 'own', holdMs: 0 }
  await createMcpGate(server, { ...options, results: 'off' }).connect(far)
  const open = new Map<unknown, (message: object) => void>()
  Object.assign(near, {
    onmessage: (message: { id?: unknown }) => open.get(message.id)?.(message),
  })
  await near.start()
  let ids = 0
  const ask = (method: string, params: object) =>
    new Promise<object>((answered) => {
      open.set(++ids, answered)
      void near.send({ jsonrpc: '2.0', id: ids, method, params } as never)
    })
  await ask('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  })
  return {
    contextOf: ofGateway,
    call: async (name, args) => receivedIn(await ask('tools/call', { name, arguments: args })),
    close: () => near.close(),
  }
}

/** AuthZEN, which refuses what does not fit. */
const authzen = ({ url, org }: RemitServer): Door => ({
  contextOf: (tool, args) => ({ args, tool }),
  async call(tool, args) {
    const response = await fetch(`${url}/access/v1/evaluation`, {
      method: 'POST',
      headers: { authorization: `Bearer ${org.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        subject: { type: 'agent', id: 'payer' },
        action: { name: 'tools/call' },
        resource: { type: 'tool', id: tool },
        context: { args, tool },
      }),
    })
    expect([200, 400]).toContain(response.status)
    const { decision } = (await response.json()) as { decision?: boolean }
    return decision === true ? { args } : undefined
  },
})

describe.skipIf(!hasModules())('a large, deep, wide or odd call', () => {
  let remit: RemitServer
  beforeAll(async () => {
    remit = await startRemit()
    for (const [i, { text: condition }] of FORMS.entries()) {
      const rule = { actions: ['tools/call'], resources: [`tool:t${i}`], condition }
      await (i % 3 === 0
        ? remit.client.setApprovalRule({ params: { id: `t${i}` }, body: rule })
        : remit.client.createPolicy({ body: { effect: 'deny', ...rule } }))
    }
  })
  afterAll(() => remit.stop())

  it.for(
    sampled<[string, (remit: RemitServer) => Door | Promise<Door>]>(
      [
        ['the gate in TypeScript', sdk],
        ['the gate in Python', python],
        ['the gateway on pipes, with a client of 2025-11-25', gatewayOnPipes('2025-11-25')],
        ['the gateway on pipes, with a client of 2026-07-28', gatewayOnPipes('2026-07-28')],
        ['the gateway on HTTP, with a client of 2025-11-25', gatewayOnHttp('2025-11-25')],
        ['the gateway on HTTP, with a client of 2026-07-28', gatewayOnHttp('2026-07-28')],
        ['createMcpGate', ownServer],
        ['AuthZEN', authzen],
      ],
      2,
    ),
  )(
    'runs through %s only if its rules let the whole call pass, and with what they judged',
    { timeout: 1_200_000 },
    async ([, open], { skip }) => {
      if (open === python && !hasPython) skip('python3 is missing')
      const door = await open(remit)
      const ran = { whole: 0, shrunk: 0 }
      // Who asks by AuthZEN fits the context by itself.
      const shrinks = open !== authzen
      const calls = runs(400, 40)
      // Of few calls, rules may let none pass: then more.
      for (const [nth, { args = null }] of someLargeContexts(10 * calls).entries()) {
        if (nth >= calls && ran.whole > 0 && ran.shrunk > 0 === shrinks) break
        const { context, replaced } = await fitted({ args })
        const at = ruleFor(door.contextOf('', args), door.contextOf('', context['args'] ?? {}))
        const tool = `t${at}`
        const received = await door.call(tool, args)
        if (!received) continue
        ran[replaced.length > 0 ? 'shrunk' : 'whole']++
        const { text, says } = FORMS[at]!
        expect([text, says(door.contextOf(tool, args))]).toEqual([text, false])
        expect(ordinary(received.args)).toEqual(ordinary(args))
      }
      await door.close?.()

      expect(ran.whole).toBeGreaterThan(0)
      expect(ran.shrunk > 0).toBe(shrinks)
    },
  )
})
