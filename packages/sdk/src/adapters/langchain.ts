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
      const tool = request.tool as unknown as Parsing | undefined
      const input = tool ? await parsedBy(tool, args) : args
      const call = { tool: name, input, ...(id !== undefined && { callId: id }) }
      const decidedCall = (decided: never) =>
        tool?.[RUNS]
          ? { ...request, tool: withArguments(tool, decided) as unknown as typeof request.tool }
          : { ...request, toolCall: { ...request.toolCall, args: decided } }
      // First of all, as LangGraph runs this anew after an interrupt.
      const done = await gate.run(call, (decided: never) => handler(decidedCall(decided)), {
        isFailure: (result) => result instanceof ToolMessage && result.status === 'error',
      })
      if (done.kind === 'ran') return done.result
      if (done.kind === 'pending' && gate.options.approval?.mode === 'return')
        interrupt({ approval_id: done.approvalId, until: done.until, message: done.message })
      const content = toolMessage(done)
      return new ToolMessage({ content, name, tool_call_id: id ?? '', status: 'error' })
    },
  })

/** Runs the function of a tool, with the arguments that its schema made. */
const RUNS = '_call'

/** A tool that reads its arguments with a schema before it runs. */
interface Parsing {
  readonly schema?: { readonly parseAsync?: (value: unknown) => Promise<unknown> }
  readonly [RUNS]?: (input: never, ...others: readonly unknown[]) => unknown
}

/** The arguments that the tool would run with: a schema fills in defaults, and changes values. */
async function parsedBy({ schema, [RUNS]: call }: Parsing, args: unknown): Promise<unknown> {
  if (!call || typeof schema?.parseAsync !== 'function') return args
  // The framework reports arguments that do not fit.
  return schema.parseAsync(args).catch(() => args)
}

/** The tool such that it runs with the arguments that were decided, whatever its schema makes of others. */
const withArguments = (tool: Parsing, decided: never): Parsing =>
  Object.create(tool, {
    [RUNS]: { value: (_: unknown, ...others: unknown[]) => tool[RUNS]?.(decided, ...others) },
  }) as Parsing

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
