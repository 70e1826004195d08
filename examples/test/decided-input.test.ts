import { Agent, Runner, tool as functionTool, Usage } from '@openai/agents'
import { createTool } from '@mastra/core/tools'
import { createGate, NotExecuted } from '@remit/sdk'
import type { Gate, GateOptions, Verdict } from '@remit/sdk'
import { claudeAgent } from '@remit/sdk/claude-agent'
import { remitMiddleware } from '@remit/sdk/langchain'
import { governed as governedMastra } from '@remit/sdk/mastra'
import { runToolCalls } from '@remit/sdk/openai'
import { governed as governedAgents } from '@remit/sdk/openai-agents'
import { governed as governedVercel } from '@remit/sdk/vercel'
import { createAgent, FakeToolCallingModel, tool as langchainTool } from 'langchain'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

const PAYMENT = z.object({ to: z.string().trim(), usd: z.coerce.number().default(5000) })
type Payment = z.infer<typeof PAYMENT>

describe.skipIf(!hasModules())('what is decided', () => {
  let server: RemitServer
  beforeAll(async () => {
    server = await startRemit()
    const { client } = server
    const deny = (condition: string) =>
      client.createPolicy({ body: { effect: 'deny', actions: ['order'], condition } })
    await deny('has(context.args.usd) && context.args.usd > 1000.0')
    await deny('has(context.args.to) && context.args.to == "mallory"')
    await client.setApprovalRule({ params: { id: 'held' }, body: { actions: ['held.*'] } })
    await client.setApprovalRule({
      params: { id: 'amounts' },
      body: { actions: ['amounts.*'], binding_context: ['amount_usd'] },
    })
  })
  afterAll(() => server.stop())

  let count = 0
  async function newGate(options: Partial<GateOptions> = {}): Promise<Gate & { agent: string }> {
    const agent = `agent-${++count}`
    await server.client.setSpendLimit({ params: { id: agent }, body: { daily_usd: 1000 } })
    const gate = createGate({
      client: server.client,
      agentId: agent,
      map: { pay: { amount: '/usd' } },
      onWarning: () => undefined,
      ...options,
    })
    return Object.assign(gate, { agent })
  }
  const day = async ({ agent }: { agent: string }) =>
    (await server.client.getSpendLimit({ params: { id: agent } })).spent.day
  const outcomes = async ({ agent }: { agent: string }) =>
    (
      await server.client.listEntries({ query: { agent_id: agent, kind: 'entry.appended' } })
    ).data.map(({ data }) => data?.['outcome'])

  it('has the members named like those of a prototype that are there, and no other one', async () => {
    const condition =
      'has(context.args.constructor) || has(context.args.__proto__) || has(context.args.toString)'
    await server.client.createPolicy({ body: { effect: 'deny', actions: ['named'], condition } })
    const ran: string[] = []
    const map = { named: { omit: ['/iban', '/to/__proto__', '/valueOf'] } }
    const gate = await newGate({ map })
    const named = gate.wrap('named', (input: object) => ran.push(JSON.stringify(input)), {
      onDeny: 'return',
    })
    const allowed = ['{}', '{"iban":"DE1","to":{"__proto__":{"usd":5000}}}', '{"valueOf":1}']
    const refused = ['{"constructor":1}', '{"__proto__":{"usd":1}}']
    for (const text of [...allowed, ...refused]) await named(JSON.parse(text) as object)

    expect(ran).toEqual(allowed)
    expect(({} as { usd?: unknown }).usd).toBeUndefined()
  })

  const approve = (verdict: Verdict) =>
    server.client.decideApproval({
      params: { requestID: verdict.kind === 'pending' ? verdict.approvalId : '' },
      body: { decision: 'approve', approver: 'ada@example.org' },
    })

  describe('is what runs', () => {
    it('where the input changes while it is decided', async () => {
      const ran: unknown[] = []
      const order = (await newGate()).wrap('order', (input: object) => ran.push(input))
      const input = { usd: 1, lines: [{ usd: 1 }] }
      const running = order(input)
      input.usd = 5000
      input.lines.push({ usd: 5000 })
      await running

      expect(ran).toEqual([{ usd: 1, lines: [{ usd: 1 }] }])
    })

    it('where each reading gives another value', async () => {
      const ran: unknown[] = []
      let reads = 0
      const order = (await newGate()).wrap('order', (input: object) => ran.push(input))
      await order({
        get usd() {
          return ++reads === 1 ? 1 : 5000
        },
      })

      expect(ran).toEqual([{ usd: 1 }])
    })

    it('or nothing does: of a program that uses its own input', async () => {
      const gate = await newGate()
      const input = { usd: 1 }
      let ran = 0
      const running = gate.run({ tool: 'order', input }, () => (ran += input.usd))
      input.usd = 5000

      expect(await running).toMatchObject({ kind: 'deny', reason: 'input_changed' })
      const admitted = gate.admit({ tool: 'order', input: { ...input, usd: 1 } })
      expect(await admitted).toMatchObject({ kind: 'allow' })
      expect(ran).toBe(0)
    })

    it('with the defaults and conversions of a schema, in each adapter', async () => {
      const gate = await newGate()
      const ran: Payment[] = []
      const execute = (input: Payment) => {
        ran.push(input)
        return 'paid'
      }
      const attempts = [{}, { usd: '5000' }, { usd: 1, to: ' mallory ' }, { usd: '7', to: 'bob ' }]
      for (const [index, attempt] of attempts.entries()) {
        const args = { to: 'bob', ...attempt }
        const call = { name: 'order', args, id: `lc-${index}`, type: 'tool_call' } as const
        const agent = createAgent({
          model: new FakeToolCallingModel({ toolCalls: [[call], []] }),
          tools: [langchainTool(execute, { name: 'order', schema: PAYMENT })],
          middleware: [remitMiddleware(gate)],
        })
        await agent.invoke({ messages: [{ role: 'user', content: 'Pay.' }] })
        await runOpenAi(gate, args, execute, `oa-${index}`)
      }

      expect(ran).toEqual(Array.from({ length: 2 }, () => ({ to: 'bob', usd: 7 })))
    })

    it('as the copy that was decided, in each adapter', async () => {
      const gate = await newGate()
      const ran: unknown[] = []
      const shared = { usd: 1 }
      const execute = (input: unknown) => ran.push(input)
      const vercel = governedVercel(gate, { order: { execute } })
      const mastra = governedMastra(gate, {
        order: createTool({
          id: 'order',
          description: 'Orders.',
          execute: async (input) => execute(input),
        }),
      })
      const calls = [
        Promise.resolve(
          (vercel.order.execute as (...args: unknown[]) => unknown)(shared, { toolCallId: 'v' }),
        ),
        (mastra.order.execute as (...args: unknown[]) => Promise<unknown>)(shared, {
          agent: { toolCallId: 'm' },
        }),
        runToolCalls(gate, [{ id: 'o', function: { name: 'order', arguments: '{"usd":1}' } }], {
          order: execute,
        }),
      ]
      shared.usd = 5000
      await Promise.all(calls)

      // A host that changes its own object gets a denial or the copy, never the change.
      expect(ran.length).toBeGreaterThan(0)
      expect(ran.filter((input) => (input as Payment).usd !== 1)).toEqual([])
    })

    it('for both questions of the Claude Agent SDK about a call', async () => {
      const { canUseTool } = claudeAgent(await newGate())
      const options = { signal: new AbortController().signal, toolUseID: 'c' }
      const input = { usd: 1 }
      const asked = canUseTool('order', input, options)
      input.usd = 5000

      expect(await asked).not.toMatchObject({ updatedInput: { usd: 5000 } })
      expect(await canUseTool('order', { usd: 5000 }, options)).toMatchObject({ behavior: 'deny' })
    })
  })

  describe('has omitted members by their digests', () => {
    const MAP = {
      'held.pay': { amount: '/usd', omit: ['/iban'] },
      'amounts.pay': { amount: '/usd', omit: ['/iban'] },
    }

    it.each(['held.pay', 'amounts.pay'])(
      'so that an approval pays nobody else: %s',
      async (tool) => {
        const gate = await newGate({ map: MAP, approval: { mode: 'return' } })
        const ask = (input: object, by = gate) => by.check({ tool, input, callId: 'c' })
        const good = { usd: 5, iban: 'GOOD' }
        const first = await ask(good)
        await approve(first)

        for (const other of [{ usd: 5, iban: 'EVIL' }, { usd: 5 }, { usd: 5, iban: null }])
          expect(await ask(other)).toMatchObject({ kind: 'pending' })
        const rotated = gate.with({ omitKey: 'another-secret-of-thirty-two-chars' })
        expect(await ask(good, rotated as typeof gate)).toMatchObject({ kind: 'pending' })
        expect(await ask(good, gate.with({}) as typeof gate)).toMatchObject({ kind: 'allow' })
      },
    )

    it('which approvers see in place of the value', async () => {
      const gate = await newGate({ map: MAP, approval: { mode: 'return' } })
      const verdict = await gate.check({ tool: 'held.pay', input: { usd: 5, iban: 'DE89' } })
      const id = verdict.kind === 'pending' ? verdict.approvalId : ''
      const { context, shown } = await server.client.getApproval({ params: { id } })

      expect(context).toMatchObject({
        args: { usd: 5 },
        omitted: { '/iban': expect.stringMatching(/^[\w-]{43}$/) as string },
      })
      expect(shown).toContain('"omitted":{"/iban":')
      expect(shown).not.toContain('DE89')
    })
  })

  describe('costs', () => {
    const OBJECT = {
      toString: () => {
        throw new Error('no text')
      },
    }

    it.each([
      ['a BigInt', () => 5n],
      ['a symbol', () => Symbol('usd')],
      ['null', () => null],
      ['an empty text', () => ''],
      ['a text', () => '5'],
      ['true', () => true],
      ['NaN', () => Number.NaN],
      ['infinity', () => Number.POSITIVE_INFINITY],
      ['less than nothing', () => -1],
      ['an object without a text', () => OBJECT],
      ['a function', () => () => 5],
      ['a promise that fails', () => Promise.reject(new Error('late'))],
      ['more than the limit of amounts', () => 1e10],
    ])(
      'the amount held where costOf returns %s, with a warning',
      async (_, costOf: () => unknown) => {
        const warnings: string[] = []
        const gate = await newGate({ onWarning: (text) => warnings.push(text) })
        const pay = gate.wrap<{ usd: number }, string>('pay', () => 'paid', {
          costOf: costOf as () => number,
        })

        expect(await pay({ usd: 10 })).toBe('paid')
        expect(await day(gate)).toMatchObject({ usd: 10, held_usd: 0 })
        expect(warnings).toEqual([expect.stringContaining('no amount in USD')])
      },
    )

    it('the amount that costOf returns, as limits count a mapped one', async () => {
      const gate = await newGate()
      const pay = gate.wrap('pay', ({ usd }: { usd: number }) => usd, { costOf: (usd) => usd })
      await pay({ usd: 0.1 + 0.2 })

      expect(await day(gate)).toMatchObject({ usd: 0.3, held_usd: 0 })
    })
  })

  describe('ends as it ended, with a function tool of the OpenAI Agents SDK', () => {
    const failing = (error: Error) => () => {
      throw error
    }

    it('that fails: its hold stays', async () => {
      const gate = await newGate()
      const told = await runOpenAi(
        gate,
        { usd: 40 },
        failing(new Error('the line broke')),
        'c',
        'pay',
      )

      expect(told).toContain('error')
      expect(await outcomes(gate)).toEqual(['failure'])
      expect(await day(gate)).toMatchObject({ usd: 0, held_usd: 40 })
    })

    it('that had no effect: its hold is released', async () => {
      const gate = await newGate()
      await runOpenAi(gate, { usd: 40 }, failing(new NotExecuted('no funds')), 'c', 'pay')

      expect(await outcomes(gate)).toEqual(['failure'])
      expect(await day(gate)).toMatchObject({ usd: 0, held_usd: 0 })
    })

    it('that hides how its calls end: it is refused', async () => {
      const options = {
        name: 'pay',
        description: 'Pays.',
        parameters: PAYMENT,
        execute: () => 'paid',
      }

      expect(() =>
        governedAgents(createGate({ client: server.client }), functionTool(options)),
      ).toThrow('tool(governed(gate, options))')
    })
  })
})

/** Lets an agent of the OpenAI Agents SDK call the tool once; what the model was told. */
async function runOpenAi(
  gate: Gate,
  args: object,
  execute: (input: Payment) => unknown,
  callId: string,
  name = 'order',
): Promise<string> {
  const parameters = name === 'order' ? PAYMENT : z.object({ usd: z.number() })
  const call = { type: 'function_call', callId, name, status: 'completed' } as const
  const answer = { type: 'message', role: 'assistant', status: 'completed' } as const
  const outputs = [
    { ...call, arguments: JSON.stringify(args) },
    { ...answer, content: [{ type: 'output_text' as const, text: 'done' }] },
  ]
  const agent = new Agent({
    name: 'payer',
    model: {
      getResponse: () => Promise.resolve({ usage: new Usage(), output: outputs.splice(0, 1) }),
      getStreamedResponse: () => {
        throw new Error('is not streamed')
      },
    },
    tools: [
      functionTool(
        governedAgents(gate, { name, description: 'Pays.', parameters, execute: execute as never }),
      ),
    ],
  })
  const { history } = await new Runner({ tracingDisabled: true }).run(agent, 'Pay.')
  return JSON.stringify(history)
}
