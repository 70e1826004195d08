import { Agent, Runner, tool as agentTool, Usage } from '@openai/agents'
import type { Model } from '@openai/agents'
import { createGate } from '@remit/sdk'
import type { GateOptions } from '@remit/sdk'
import { claudeAgent } from '@remit/sdk/claude-agent'
import { runToolCalls } from '@remit/sdk/openai'
import { governed as governedOption } from '@remit/sdk/openai-agents'
import { governed, toolApproval } from '@remit/sdk/vercel'
import { generateText, stepCountIs, streamText, tool } from 'ai'
import type { ModelMessage } from 'ai'
import { convertArrayToReadableStream, MockLanguageModelV4 } from 'ai/test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

type Streamed = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream']
type Part = Streamed extends ReadableStream<infer Each> ? Each : never

describe.skipIf(!hasModules())('under attack, the loop of', () => {
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

  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  }

  describe('the Vercel AI SDK', () => {
    const called = (toolCallId: string, toolName: string, input: object) =>
      ({ type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) }) as const
    type Called = ReturnType<typeof called>
    const modelOf = (...turns: readonly (readonly Called[])[]) => {
      const results = [...turns, []]
      const next = () => {
        const calls = results.shift() ?? []
        const unified = calls.length > 0 ? ('tool-calls' as const) : ('stop' as const)
        return { calls, finishReason: { unified, raw: undefined } }
      }
      return new MockLanguageModelV4({
        doGenerate: () => {
          const { calls, finishReason } = next()
          const content = [...calls, { type: 'text', text: 'done' } as const]
          return Promise.resolve({ content, finishReason, usage, warnings: [] })
        },
        doStream: () => {
          const { calls, finishReason } = next()
          const parts = calls.flatMap(partsOf)
          const finish: Part = { type: 'finish', finishReason, usage }
          return Promise.resolve({ stream: convertArrayToReadableStream([...parts, finish]) })
        },
      })
    }
    /** The arguments of a call, piece by piece. */
    const partsOf = (call: Called): Part[] => {
      const { toolCallId: id, toolName, input } = call
      const deltas = input.match(/.{1,4}/gs) ?? []
      return [
        { type: 'tool-input-start', id, toolName },
        ...deltas.map((delta) => ({ type: 'tool-input-delta', id, delta }) as const),
        { type: 'tool-input-end', id },
        call,
      ]
    }
    const CHANGED = { to: 'bob', usd: 5000 }
    const PAYMENT = z.object({
      to: z.string().trim().default('bob'),
      usd: z.coerce.number().default(5000),
    })
    const toolsOf = (ran: unknown[], gate = newGate()) => {
      const one = tool({
        description: 'Orders.',
        inputSchema: PAYMENT,
        execute: (input: object) => ran.push(input),
      })
      return governed(gate, { order: one, held: one })
    }
    const WAYS = [
      ['generateText', (options: object) => generateText(options as never)],
      [
        'streamText',
        async (options: object) => {
          const { responseMessages, steps } = streamText(options as never)
          return { responseMessages: await responseMessages, steps: await steps }
        },
      ],
    ] as const

    describe.each(WAYS)('with %s', (_, generate) => {
      it.each([
        ['a default', {}, []],
        ['a conversion', { usd: '5000' }, []],
        ['what the rule lets pass', { usd: '7', to: ' eve' }, [{ usd: 7, to: 'eve' }]],
      ])('decides what the schema makes: %s', async (__, input, expected) => {
        const ran: unknown[] = []
        const model = modelOf([called('c', 'order', input)])
        await generate({ model, tools: toolsOf(ran), prompt: 'Pay.', stopWhen: stepCountIs(2) })

        expect(ran).toEqual(expected)
      })

      it.each([
        ['a refinement', 'order', { experimental_refineToolInput: { order: () => CHANGED } }],
        [
          'a repair',
          'orde',
          {
            repairToolCall: ({ toolCall }: { toolCall: object }) =>
              Promise.resolve({ ...toolCall, toolName: 'order', input: JSON.stringify(CHANGED) }),
          },
        ],
      ])('decides what %s made of a call', async (__, name, changing) => {
        const [ran, gate]: [unknown[], ReturnType<typeof newGate>] = [[], newGate()]
        const model = modelOf([called('c', name, { usd: 1 })])
        const options = { model, tools: toolsOf(ran, gate), prompt: 'Pay.' }
        await generate({ ...options, ...changing, stopWhen: stepCountIs(2) })

        expect(ran).toEqual([])
        const { data } = await server.client.listEntries({
          query: { agent_id: gate.options.agentId! },
        })
        expect(data).toMatchObject([{ decision: 'deny', data: { context: { args: CHANGED } } }])
      })

      it('runs a call once, whatever repeats it', async () => {
        const ran: unknown[] = []
        const call = called('c', 'order', { usd: 1 })
        const model = modelOf([call, call], [call])
        await generate({ model, tools: toolsOf(ran), prompt: 'Pay.', stopWhen: stepCountIs(4) })

        expect(ran).toHaveLength(1)
      })

      it('asks for the approval of each call of a conversation, and runs each once', async () => {
        const ran: unknown[] = []
        const gate = newGate({ approval: { mode: 'return' } })
        const options = {
          tools: toolsOf(ran, gate),
          toolApproval: toolApproval(gate),
          stopWhen: stepCountIs(2),
        }
        const messages: ModelMessage[] = [{ role: 'user', content: 'Pay.' }]
        const asked: string[] = []
        const turn = async (...calls: Called[]) => {
          const result = await generate({ ...options, messages, model: modelOf(calls) })
          const made = (result as { responseMessages: ModelMessage[] }).responseMessages
          messages.push(...made)
          const parts = made.flatMap(({ role, content }) =>
            role === 'assistant' && typeof content !== 'string' ? content : [],
          )
          const requests = parts.flatMap((part) =>
            part.type === 'tool-approval-request' && part.isAutomatic !== true
              ? [part.approvalId]
              : [],
          )
          asked.push(...requests)
          const type = 'tool-approval-response' as const
          const answers = requests.map((approvalId) => ({ type, approvalId, approved: true }))
          messages.push({ role: 'tool', content: answers })
        }
        await turn(called('one', 'held', { usd: 1 }))
        expect(asked).toHaveLength(1)
        // Nobody has voted in Remit.
        const early = [...messages]
        await generate({ ...options, messages: early, model: modelOf() })
        expect(ran).toEqual([])
        await approveAll(gate.options.agentId)
        await turn()
        await generate({ ...options, messages: early, model: modelOf() })
        expect(ran).toHaveLength(1)
        messages.pop()
        await turn(called('two', 'held', { usd: 2 }))
        expect(asked).toHaveLength(2)
        await approveAll(gate.options.agentId)
        await turn()
        expect(ran).toEqual([
          { to: 'bob', usd: 1 },
          { to: 'bob', usd: 2 },
        ])
      })

      it('does not run a call that the framework has given up', async () => {
        const [ran, later]: unknown[][] = [[], []]
        const gate = newGate()
        const call = called('c', 'held', { usd: 1 })
        const options = { prompt: 'Pay.', stopWhen: stepCountIs(2), timeout: { toolMs: 300 } }
        await generate({ ...options, model: modelOf([call]), tools: toolsOf(ran!, gate) })
        await approveAll(gate.options.agentId)
        // The approval is still there.
        await generate({ ...options, model: modelOf([call]), tools: toolsOf(later!, gate) })

        expect([ran, later]).toEqual([[], [{ to: 'bob', usd: 1 }]])
      })
    })

    it('has no tool that a provider runs', () => {
      const search = {
        type: 'provider',
        id: 'a.search',
        isProviderExecuted: true,
        args: {},
        inputSchema: PAYMENT,
      } as const
      expect(() => governed(newGate(), { search })).toThrow('the tool search runs elsewhere')
    })
  })

  async function approveAll(agent: string | undefined): Promise<void> {
    const { data } = await server.client.listApprovals({ query: { status: 'pending' } })
    const own = data.filter(({ agent_id }) => agent_id === agent)
    expect(own).not.toEqual([])
    for (const { id } of own)
      await server.client.decideApproval({
        params: { requestID: id },
        body: { decision: 'approve', approver: 'carol' },
      })
  }

  describe('the Claude Agent SDK', () => {
    const hooksOf = (gate = newGate()) => {
      const { hooks, canUseTool } = claudeAgent(gate)
      const signal = new AbortController().signal
      const tell = (event: 'PreToolUse' | 'PostToolUse', callId: string, input: unknown) =>
        hooks[event][0]!.hooks[0]!(
          { hook_event_name: event, tool_name: 'order', tool_input: input, tool_use_id: callId },
          callId,
          { signal },
        )
      return {
        agent: gate.options.agentId,
        before: async (callId: string, input: unknown) =>
          (await tell('PreToolUse', callId, input)).hookSpecificOutput?.permissionDecision ??
          'silent',
        after: (callId: string, input: unknown) => tell('PostToolUse', callId, input),
        ask: async (callId: string, input: Record<string, unknown>) =>
          (await canUseTool('order', input, { signal, toolUseID: callId })).behavior,
      }
    }
    const gapsOf = async (agent: string | undefined) => {
      const { data } = await server.client.listEntries({
        query: { agent_id: agent!, kind: 'enforcement.gap' },
      })
      return data
    }

    it('gets one allow for a call, while it runs and after it', async () => {
      const { before, ask, after } = hooksOf()
      expect(await before('c', { usd: 1 })).toBe('silent')
      expect(await before('c', { usd: 1 })).toBe('deny')
      expect(await ask('c', { usd: 1 })).toBe('allow')
      expect(await ask('c', { usd: 1 })).toBe('deny')
      await after('c', { usd: 1 })
      expect(await before('c', { usd: 1 })).toBe('deny')
      expect(await ask('c', { usd: 1 })).toBe('deny')
    })

    it('gets a decision of its own for what another hook made of a call', async () => {
      const { before, ask } = hooksOf()
      expect(await before('c', { usd: 1 })).toBe('silent')
      expect(await ask('c', { usd: 5000 })).toBe('deny')
    })

    it('has a gap in the ledger where a call ran with what another hook made of it', async () => {
      const { agent, before, after } = hooksOf()
      await before('c', { usd: 1 })
      await after('c', { usd: 5000 })

      expect(await gapsOf(agent)).toMatchObject([{ action: 'order' }])
      await before('d', { usd: 1, to: 'bob' })
      await after('d', { to: 'bob', usd: 1 })
      expect(await gapsOf(agent)).toHaveLength(1)
    })
  })

  describe('the OpenAI Agents SDK', () => {
    const agentCall = (callId: string, name: string, input: object) =>
      ({
        type: 'function_call',
        callId,
        name,
        status: 'completed',
        arguments: JSON.stringify(input),
      }) as const
    const scripted = (...turns: readonly ReturnType<typeof agentCall>[][]): Model => {
      const outputs = [...turns]
      const next = () =>
        outputs.shift() ?? [
          {
            type: 'message',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: 'done' }],
          } as const,
        ]
      return {
        getResponse: () => Promise.resolve({ usage: new Usage(), output: next() as never }),
        async *getStreamedResponse() {
          const output = next()
          for (const item of output)
            if (item.type === 'function_call')
              for (const delta of item.arguments.match(/.{1,4}/gs) ?? [])
                yield {
                  type: 'model',
                  event: { type: 'response.function_call_arguments.delta', delta },
                } as never
          yield {
            type: 'response_done',
            response: {
              id: 'r',
              usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
              output,
            },
          } as never
        },
      }
    }
    const PAYMENT = z.object({ usd: z.coerce.number().overwrite((usd) => usd * 100) })
    const toolsOf = (ran: unknown[], gate: ReturnType<typeof newGate>, more: object = {}) =>
      ['order', 'held'].map((name) =>
        agentTool(
          governedOption(gate, {
            name,
            description: 'Orders.',
            parameters: PAYMENT,
            execute: (input: unknown) => {
              ran.push(input)
              return 'ok'
            },
            ...more,
          } as never),
        ),
      )
    const runner = new Runner({ tracingDisabled: true })
    const WAYS = [
      ['a whole answer', (agent: Agent) => runner.run(agent, 'Pay.')],
      [
        'a stream',
        async (agent: Agent) => {
          const result = await runner.run(agent, 'Pay.', { stream: true })
          await result.completed
          return result
        },
      ],
    ] as const

    describe.each(WAYS)('with %s', (_, run) => {
      it('decides what the schema makes, and runs a call once', async () => {
        const ran: unknown[] = []
        const tools = toolsOf(ran, newGate())
        const call = agentCall('c', 'order', { usd: '9' })
        const model = scripted([call, call, agentCall('d', 'order', { usd: '11' })], [call])
        await run(new Agent({ name: 'payer', model, tools }))

        expect(ran).toEqual([{ usd: 900 }])
      })

      it('runs a call once where another agent, to which it was handed, repeats it', async () => {
        const ran: unknown[] = []
        const tools = toolsOf(ran, newGate())
        const call = agentCall('c', 'order', { usd: '9' })
        const second = new Agent({ name: 'second', model: scripted([call]), tools })
        const model = scripted([call], [agentCall('h', 'transfer_to_second', {})])
        const { lastAgent } = await run(
          new Agent({ name: 'payer', model, tools, handoffs: [second] }),
        )

        expect(lastAgent?.name).toBe('second')
        expect(ran).toEqual([{ usd: 900 }])
      })

      it('does not run a call that the framework has given up', async () => {
        const [ran, later]: unknown[][] = [[], []]
        const gate = newGate()
        const model = () => scripted([agentCall('c', 'held', { usd: '9' })])
        const tools = toolsOf(ran!, gate, { timeoutMs: 300 })
        await run(new Agent({ name: 'payer', model: model(), tools }))
        await approveAll(gate.options.agentId)
        // The approval is still there.
        await run(new Agent({ name: 'payer', model: model(), tools: toolsOf(later!, gate) }))

        expect([ran, later]).toEqual([[], [{ usd: 900 }]])
      })
    })
  })

  describe('plain OpenAI tool calls', () => {
    it('decides the arguments of a text as the function gets them, and runs a call once', async () => {
      const ran: unknown[] = []
      const functions = { order: (input: unknown) => ran.push(input) }
      const gate = newGate()
      const call = (id: string, text: string) => ({
        id,
        type: 'function',
        function: { name: 'order', arguments: text },
      })
      const calls = [
        call('a', '{"usd":1,"usd":5000}'),
        call('b', '{"usd":7}'),
        call('b', '{"usd":7}'),
        call('c', '{"__proto__":{"usd":7}}'),
        call('d', '{"usd":1e999}'),
        call('e', '{"usd":5e3}'),
        { ...call('f', ''), function: { name: '__proto__', arguments: '{}' } },
        { ...call('g', ''), function: { name: 'constructor', arguments: '{}' } },
      ]
      await Promise.all([
        runToolCalls(gate, calls, functions),
        runToolCalls(gate, calls, functions),
      ])

      expect(ran.map((input) => JSON.stringify(input))).toEqual([
        '{"usd":7}',
        '{"__proto__":{"usd":7}}',
      ])
    })
  })
})
