/** LangChain and LangGraph: a middleware in front of every tool of an agent. */
import { interrupt } from '@langchain/langgraph'
import { createMiddleware, ToolMessage } from 'langchain'
import type { Gate } from '../gate.ts'
import type { Canary, Drive, SelfTestReport } from '../self-test.ts'
import { toolMessage } from '../verdict.ts'

/**
 * A middleware for `createAgent`. With the approval mode `return`, a pending call interrupts the graph with
 * `{ approval_id, until, message }`; resume it with `new Command({ resume: true })` once it is approved.
 *
 * @example
 * const agent = createAgent({ model, tools, middleware: [remitMiddleware(gate)] })
 */
export const remitMiddleware = (gate: Gate) =>
  createMiddleware({
    name: 'remit',
    async wrapToolCall(request, handler) {
      const { id, name, args } = request.toolCall
      const call = { tool: name, input: args, ...(id !== undefined && { callId: id }) }
      // First of all, as LangGraph runs this anew after an interrupt.
      const done = await gate.run(call, () => handler(request), {
        isFailure: (result) => result instanceof ToolMessage && result.status === 'error',
      })
      if (done.kind === 'ran') return done.result
      if (done.kind === 'pending' && gate.options.approval?.mode === 'return')
        interrupt({ approval_id: done.approvalId, until: done.until, message: done.message })
      const content = toolMessage(done)
      return new ToolMessage({ content, name, tool_call_id: id ?? '', status: 'error' })
    },
  })

/** Drives the canary through an agent with the framework's fake model. */
const drive: Drive = async (gate: Gate, canary: Canary) => {
  const { createAgent, FakeToolCallingModel, tool } = await import('langchain')
  const call = { name: canary.name, args: {}, id: canary.callId, type: 'tool_call' } as const
  const { Command, MemorySaver } = await import('@langchain/langgraph')
  const agent = createAgent({
    model: new FakeToolCallingModel({ toolCalls: [[call], []] }),
    tools: [
      tool(() => canary.run(), {
        name: canary.name,
        description: canary.description,
        schema: { type: 'object', properties: {} },
      }),
    ],
    middleware: [remitMiddleware(gate)],
    checkpointer: new MemorySaver(),
  })
  const config = { configurable: { thread_id: canary.callId } }
  const first = await agent.invoke({ messages: [{ role: 'user', content: 'Call it.' }] }, config)
  const isHeld = '__interrupt__' in first
  const { messages } = isHeld ? await agent.invoke(new Command({ resume: true }), config) : first
  return JSON.stringify(messages.map(({ content }) => content))
}

export const selfTest = (gate: Gate): Promise<SelfTestReport> => gate.selfTest(drive)
