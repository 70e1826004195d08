import { Command, MemorySaver } from '@langchain/langgraph'
import { Mastra } from '@mastra/core'
import { Agent as MastraAgent } from '@mastra/core/agent'
import type { AgentConfig } from '@mastra/core/agent'
import { InMemoryStore } from '@mastra/core/storage'
import { MastraLanguageModelV2Mock } from '@mastra/core/test-utils/llm-mock'
import { createTool } from '@mastra/core/tools'
import { Agent, Runner, RunState, tool, Usage } from '@openai/agents'
import type { Model } from '@openai/agents'
import { createGate } from '@remit/sdk'
import type { Gate } from '@remit/sdk'
import { remitMiddleware } from '@remit/sdk/langchain'
import * as mastra from '@remit/sdk/mastra'
import * as openaiAgents from '@remit/sdk/openai-agents'
import * as vercel from '@remit/sdk/vercel'
import { generateText, jsonSchema, tool as aiTool } from 'ai'
import type { ModelMessage } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { createAgent, FakeToolCallingModel, tool as langchainTool } from 'langchain'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

const RESUMES = 20

describe.skipIf(!hasModules())('a run that is resumed again and again', () => {
  let server: RemitServer
  beforeAll(async () => {
    server = await startRemit()
    await server.client.setApprovalRule({ params: { id: 'all' }, body: { actions: ['transfer'] } })
  })
  afterAll(() => server.stop())

  const gateOf = (agentId: string): Gate =>
    createGate({ client: server.client, agentId, runId: 'run', approval: { mode: 'return' } })
  const approveAll = async (agentId: string) => {
    const { data } = await server.client.listApprovals({
      query: { agent_id: agentId, status: 'pending' },
    })
    expect(data).toHaveLength(1)
    const vote = { decision: 'approve', approver: 'ada@example.org' } as const
    for (const { id } of data)
      await server.client.decideApproval({ params: { requestID: id }, body: vote })
  }

  it('runs once in the Vercel AI SDK, and not before Remit says so', async () => {
    const gate = gateOf('vercel')
    let ran = 0
    const usage = {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    }
    const call = { toolCallId: 'call-1', toolName: 'transfer', input: '{}' }
    /** The framework's loop in a new process: a new gate of the same run. */
    const generate = (messages: ModelMessage[], isFirst: boolean) => {
      const fresh = gate.with({})
      const transfer = aiTool({
        description: 'Transfers',
        inputSchema: jsonSchema<object>({ type: 'object', properties: {} }),
        execute: () => ++ran,
      })
      return generateText({
        model: new MockLanguageModelV4({
          doGenerate: {
            content: isFirst ? [{ type: 'tool-call', ...call }] : [{ type: 'text', text: 'done' }],
            finishReason: { unified: isFirst ? 'tool-calls' : 'stop', raw: undefined },
            usage,
            warnings: [],
          },
        }),
        tools: vercel.governed(fresh, { transfer }),
        toolApproval: vercel.toolApproval(fresh),
        messages,
      })
    }
    const question: ModelMessage[] = [{ role: 'user', content: 'Pay.' }]
    const first = await generate(question, true)
    const request = first.content.find((part) => part.type === 'tool-approval-request')
    const answered: ModelMessage[] = [
      ...question,
      ...first.finalStep.response.messages,
      {
        role: 'tool',
        content: [
          { type: 'tool-approval-response', approvalId: request?.approvalId ?? '', approved: true },
        ],
      },
    ]

    // The operator says yes; nobody has approved.
    await generate(answered, false)
    expect(request).toBeDefined()
    expect(ran).toBe(0)
    await approveAll('vercel')
    for (let resumes = 0; resumes < RESUMES; resumes++) await generate(answered, false)

    expect(ran).toBe(1)
  })

  it('runs once in OpenAI Agents, and not before Remit says so', async () => {
    const gate = gateOf('openai')
    let ran = 0
    const agentOf = (fresh: Gate) => {
      let turn = 0
      const model: Model = {
        getResponse: () =>
          Promise.resolve({
            usage: new Usage(),
            output: [
              turn++ === 0 && ran === 0
                ? {
                    type: 'function_call',
                    callId: 'call-1',
                    name: 'transfer',
                    status: 'completed',
                    arguments: '{}',
                  }
                : {
                    type: 'message',
                    role: 'assistant',
                    status: 'completed',
                    content: [{ type: 'output_text', text: 'done' }],
                  },
            ],
          }),
        getStreamedResponse: () => {
          throw new Error('not used')
        },
      }
      const transfer = tool(
        openaiAgents.governed(fresh, {
          name: 'transfer',
          description: 'Transfers',
          parameters: {
            type: 'object' as const,
            properties: {},
            required: [],
            additionalProperties: false as const,
          },
          strict: true as const,
          execute: () => ++ran,
        }),
      )
      return new Agent({ name: 'payer', model, tools: [transfer] })
    }
    const runner = new Runner({ tracingDisabled: true })
    const first = await runner.run(agentOf(gate.with({})), 'Pay.')
    const saved = first.state.toString()
    expect(first.interruptions).toHaveLength(1)
    const resume = async () => {
      const agent = agentOf(gate.with({}))
      const state = await RunState.fromString(agent, saved)
      for (const item of state.getInterruptions()) state.approve(item)
      return runner.run(agent, state)
    }

    await resume()
    expect(ran).toBe(0)
    await approveAll('openai')
    for (let resumes = 0; resumes < RESUMES; resumes++) await resume()

    expect(ran).toBe(1)
  })

  it('runs once in LangGraph, and not before Remit says so', async () => {
    const gate = gateOf('langgraph')
    let ran = 0
    const call = { name: 'transfer', args: {}, id: 'call-1', type: 'tool_call' } as const
    const checkpointer = new MemorySaver()
    const agentOf = (isFirst: boolean) =>
      createAgent({
        model: new FakeToolCallingModel({ toolCalls: isFirst ? [[call]] : [[]] }),
        tools: [
          langchainTool(() => `${++ran}`, {
            name: 'transfer',
            description: 'Transfers',
            schema: { type: 'object', properties: {} },
          }),
        ],
        middleware: [remitMiddleware(gate.with({}))],
        checkpointer,
      })
    const thread = { configurable: { thread_id: 'thread-1' } }
    const first = agentOf(true)
    const held = await first.invoke({ messages: [{ role: 'user', content: 'Pay.' }] }, thread)
    const { config: saved } = await first.graph.getState(thread)
    expect(held).toHaveProperty('__interrupt__')
    const resume = () => agentOf(false).invoke(new Command({ resume: true }), saved)

    await resume()
    expect(ran).toBe(0)
    await approveAll('langgraph')
    for (let resumes = 0; resumes < RESUMES; resumes++) await resume()

    expect(ran).toBe(1)
  })

  it('runs once in Mastra, and not before Remit says so', async () => {
    const gate = gateOf('mastra')
    let ran = 0
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
    const call = { toolCallId: 'call-1', toolName: 'transfer', input: '{}' }
    const store = new InMemoryStore()
    const agentOf = (isFirst: boolean) => {
      const agent = new MastraAgent({
        id: 'payer',
        name: 'payer',
        instructions: 'Pay.',
        model: new MastraLanguageModelV2Mock({
          doGenerate: () =>
            Promise.resolve({
              content: isFirst
                ? [{ type: 'tool-call', ...call }]
                : [{ type: 'text', text: 'done' }],
              finishReason: isFirst ? 'tool-calls' : 'stop',
              usage,
              warnings: [],
            }),
        }) as unknown as AgentConfig['model'],
        tools: mastra.governed(gate.with({}), {
          transfer: createTool({
            id: 'transfer',
            description: 'Transfers',
            execute: () => Promise.resolve(++ran),
          }),
        }),
      })
      return new Mastra({ agents: { payer: agent }, storage: store, logger: false }).getAgent(
        'payer',
      )
    }
    const { runId = '', finishReason } = await agentOf(true).generate('Pay.', { maxSteps: 2 })
    const { workflows } = store.stores
    if (!workflows) throw new Error('the store keeps no runs')
    const saved = await workflows.listWorkflowRuns({})
    expect(finishReason).toBe('suspended')
    const resume = async () => {
      // As after a crash before the framework recorded the end.
      for (const { workflowName, runId: id, snapshot } of saved.runs)
        if (typeof snapshot === 'object')
          await workflows.persistWorkflowSnapshot({ workflowName, runId: id, snapshot })
      return agentOf(false).resumeGenerate({}, { runId, toolCallId: call.toolCallId })
    }

    expect(await resume()).toMatchObject({ finishReason: 'suspended' })
    expect(ran).toBe(0)
    await approveAll('mastra')
    for (let resumes = 0; resumes < RESUMES; resumes++) await resume()

    expect(ran).toBe(1)
  })
})
