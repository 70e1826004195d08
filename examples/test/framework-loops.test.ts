import { RunnableLambda } from '@langchain/core/runnables'
import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { InMemoryStore } from '@mastra/core/storage'
import { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock'
import { createTool } from '@mastra/core/tools'
import { createGate } from '@remit/sdk'
import type { GateOptions } from '@remit/sdk'
import { remitMiddleware } from '@remit/sdk/langchain'
import { governed } from '@remit/sdk/mastra'
import {
  createAgent,
  createMiddleware,
  FakeToolCallingModel,
  tool,
  toolRetryMiddleware,
} from 'langchain'
import { tool as vercelTool } from 'ai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

describe.skipIf(!hasModules())('in the loop of a framework,', () => {
  let server: RemitServer
  beforeAll(async () => {
    server = await startRemit()
    // The open form on purpose: an amount that the rule does not see would pass it.
    const condition = 'has(context.args.usd) && context.args.usd > 1000.0'
    await server.client.createPolicy({ body: { effect: 'deny', actions: ['order'], condition } })
    await server.client.setApprovalRule({ params: { id: 'held' }, body: { actions: ['held'] } })
  })
  afterAll(() => server.stop())

  let agents = 0
  const newGate = (options: Partial<GateOptions> = {}) =>
    createGate({ client: server.client, agentId: `agent-${++agents}`, ...options })

  describe('a tool of Mastra', () => {
    const toolsOf = (inputSchema: z.ZodType, ran: unknown[], gate = newGate(), name = 'order') =>
      governed(gate, {
        [name]: createTool({
          id: name,
          description: 'Orders.',
          inputSchema,
          execute: (input: unknown) => Promise.resolve(ran.push(input)),
        }),
      })
    type Called = (input: unknown, context?: object) => Promise<unknown>
    const callOf = (tools: object) => (tools as { order: { execute: Called } }).order.execute
    const agentOf = (tools: object, name: string, args: object, repeats = 1) => {
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
      const input = JSON.stringify(args)
      const call = { type: 'tool-call', toolCallId: 'c', toolName: name, input } as const
      const calls = Array.from({ length: repeats }, () => [call, call].slice(0, repeats))
      const content = [...calls, [{ type: 'text', text: 'done' } as const]]
      const model = new MastraLanguageModelV2Mock({
        doGenerate: () =>
          Promise.resolve({
            content: content.shift() ?? [],
            finishReason: content.length > 0 ? 'tool-calls' : 'stop',
            usage,
            warnings: [],
          }),
      })
      const options = { id: 'payer', name: 'payer', instructions: 'Pay.', model, tools }
      const payer = new Agent(options as unknown as ConstructorParameters<typeof Agent>[0])
      const storage = new InMemoryStore()
      return new Mastra({ agents: { payer }, storage, logger: false }).getAgent('payer')
    }
    const PAYMENT = z.object({ to: z.string().trim(), usd: z.coerce.number().default(5000) })

    it.each([
      ['a default', { to: 'bob' }, []],
      ['a conversion', { to: 'bob', usd: '5000' }, []],
      ['a value that it leaves out', { to: 'bob', usd: undefined }, [{ to: 'bob', usd: 0 }]],
      ['what it lets pass', { to: ' bob', usd: '7' }, [{ to: 'bob', usd: 7 }]],
    ])('is decided with what its schema makes: %s', async (_, args, expected) => {
      const ran: unknown[] = []
      const tools = toolsOf(PAYMENT, ran)
      await callOf(tools)(args)
      await callOf(tools)(args, { workflow: { runId: 'r', workflowId: 'w' } })

      expect(ran).toEqual([...expected, ...expected])
    })

    it.each([
      ['alone', callOf],
      [
        'in an agent, whose model makes it read the arguments twice',
        (tools: object) => (args: object) => agentOf(tools, 'order', args).generate('Pay.'),
      ],
    ])('runs with nothing that a schema makes of decided arguments: %s', async (_, called) => {
      const ran: unknown[] = []
      const cents = z.object({ usd: z.number().transform((usd) => usd * 100) })
      await called(toolsOf(cents, ran))({ usd: 9 })

      expect(ran).toEqual([])
    })

    const ofVercel = (ran: unknown[], gate = newGate(), name = 'order') => {
      const execute = (input: object) => ran.push(input)
      const one = vercelTool({ description: 'Orders.', inputSchema: PAYMENT, execute })
      return governed(gate, { [name]: one })
    }

    it.each([
      ['of Mastra', (ran: unknown[]) => toolsOf(PAYMENT, ran)],
      ['of the Vercel AI SDK', (ran: unknown[]) => ofVercel(ran)],
    ])('runs once for a call that the model repeats: one %s', async (_, made) => {
      const ran: unknown[] = []
      await agentOf(made(ran), 'order', { to: 'bob', usd: '7' }, 3).generate('Pay.')

      expect(ran).toEqual([{ to: 'bob', usd: 7 }])
    })

    it.each([
      ['of Mastra', toolsOf.bind(null, PAYMENT)],
      ['of the Vercel AI SDK', ofVercel],
    ])(
      'runs after its approval, with the arguments that were approved: one %s',
      async (_, made) => {
        const ran: unknown[] = []
        const gate = newGate({ approval: { mode: 'return' } })
        const agent = agentOf(made(ran, gate, 'held'), 'held', { to: 'bob ', usd: '7' })
        const { runId = '' } = await agent.generate('Pay.')
        const { data } = await server.client.listApprovals({ query: { status: 'pending' } })
        const body = { decision: 'approve', approver: 'carol' } as const
        await server.client.decideApproval({ params: { requestID: data[0]?.id ?? '' }, body })
        await agent.resumeGenerate({}, { runId, toolCallId: 'c' })

        expect(ran).toEqual([{ to: 'bob', usd: 7 }])
      },
    )
  })

  describe('a tool of LangChain runs once, with what was decided,', () => {
    const PAYMENT = z.object({ usd: z.number() })
    const options = { name: 'order', description: 'Orders.', schema: PAYMENT }
    const retrying = toolRetryMiddleware({ maxRetries: 2, initialDelayMs: 1 })
    const rewriting = createMiddleware({
      name: 'rewriting',
      wrapToolCall: (request, handler) =>
        handler({ ...request, toolCall: { ...request.toolCall, args: { usd: 5000 } } }),
    })
    type Execute = (input: unknown) => unknown
    const KINDS: [string, (execute: Execute) => object][] = [
      ['a function', (execute) => tool(execute, options)],
      ['a runnable', (execute) => RunnableLambda.from(execute).asTool(options)],
      [
        'a class with a way of its own to run',
        (execute) =>
          Object.assign(tool(execute, options), {
            invoke: ({ args }: { args: unknown }) => execute(args),
          }),
      ],
    ]
    const WAYS = KINDS.flatMap(([kind, make]) => [
      [kind, 'repeats calls that fail', make, retrying] as const,
      [kind, 'changes the arguments', make, rewriting] as const,
    ])

    it('and not where only a later middleware has the tool', async () => {
      const ran: unknown[] = []
      const schema = PAYMENT.extend({ usd: z.number().default(5000) })
      const hidden = tool((input: unknown) => ran.push(input), { ...options, schema })
      const giving = createMiddleware({
        name: 'giving',
        wrapToolCall: (request, handler) => handler({ ...request, tool: hidden as never }),
      })
      const call = { name: 'order', args: {}, id: 'c', type: 'tool_call' } as const
      const run = async (...middleware: (typeof giving)[]) => {
        const model = new FakeToolCallingModel({ toolCalls: [[{ ...call }], []] })
        const agent = createAgent({ model, tools: [], middleware })
        const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Pay.' }] })
        return JSON.stringify(messages)
      }
      const gate = remitMiddleware(newGate())

      expect(await run(gate, giving)).toContain('must come before remitMiddleware')
      expect(await run(giving, gate)).toContain('policy_deny')
      expect(ran).toEqual([])
    })

    it.each(WAYS)('of %s, where a later middleware %s', async (_, __, make, middleware) => {
      const ran: unknown[] = []
      const execute = (input: unknown) => {
        ran.push(input)
        throw new Error('the line broke')
      }
      const gate = newGate()
      const call = { name: 'order', args: { usd: 1 }, id: 'c', type: 'tool_call' } as const
      const agent = createAgent({
        model: new FakeToolCallingModel({ toolCalls: [[call], []] }),
        tools: [make(execute)] as never,
        middleware: [remitMiddleware(gate), middleware as typeof rewriting],
      })
      await agent.invoke({ messages: [{ role: 'user', content: 'Pay.' }] }).catch(() => undefined)

      expect(ran).toEqual([{ usd: 1 }])
    })
  })
})
