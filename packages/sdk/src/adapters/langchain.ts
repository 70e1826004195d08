/** LangChain and LangGraph: a middleware in front of every tool of an agent. */
import { interrupt } from '@langchain/langgraph'
import { createMiddleware, ToolMessage } from 'langchain'
import { alreadyDecided } from '../decide.ts'
import { RemitDenied, deny, toolMessage } from '../errors.ts'
import type { Gate } from '../gate.ts'
import type { Canary, Drive, SelfTestReport } from '../self-test.ts'
import { snapshot } from '../snapshot.ts'

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
      const { id, name, args: given } = request.toolCall
      const answer = (content: string) =>
        new ToolMessage({ content, name, tool_call_id: id ?? '', status: 'error' })
      const tool = request.tool as unknown as Invoked | undefined
      // A later middleware may have one, whose schema makes arguments that nobody here sees.
      if (!tool) return answer(toolMessage(deny(id ?? '', 'unmappable', UNKNOWN_TOOL)))
      const args = copyOf(given)
      const input = await parsedBy(tool, args)
      const call = { tool: name, input, ...(id !== undefined && { callId: id }) }
      const decidedCall = (decided: never) => ({
        ...request,
        toolCall: { ...request.toolCall, args: decided },
        tool: onceWith(tool, { args, decided }, id) as unknown as typeof request.tool,
      })
      // First of all, as LangGraph runs this anew after an interrupt.
      const done = await gate.run(call, (decided: never) => handler(decidedCall(decided)), {
        isFailure: (result) => result instanceof ToolMessage && result.status === 'error',
      })
      if (done.kind === 'ran') return done.result
      if (done.kind === 'pending' && gate.options.approval?.mode === 'return')
        interrupt({ approval_id: done.approvalId, until: done.until, message: done.message })
      return answer(toolMessage(done))
    },
  })

const UNKNOWN_TOOL =
  'The agent has no such tool. A middleware that gives one must come before remitMiddleware.'

/** Runs the function of a tool, with the arguments that its schema made. */
const RUNS = '_call'

/** A tool; one with `_call` reads its arguments with a schema before it runs. */
interface Invoked {
  readonly schema?: { readonly parseAsync?: (value: unknown) => Promise<unknown> }
  readonly [RUNS]?: (input: never, ...others: readonly unknown[]) => unknown
  readonly invoke?: (call: object, ...others: readonly unknown[]) => unknown
}

/** Arguments that nobody changes meanwhile. The gate refuses those that cannot be copied. */
function copyOf<Args>(args: Args): Args {
  try {
    return snapshot(args) as Args
  } catch {
    return args
  }
}

/** The arguments that the tool would run with: a schema fills in defaults, and changes values. */
async function parsedBy({ schema, [RUNS]: call }: Invoked, args: unknown): Promise<unknown> {
  if (!call || typeof schema?.parseAsync !== 'function') return args
  // The framework reports arguments that do not fit.
  return schema.parseAsync(args).catch(() => args)
}

/**
 * The tool such that it runs once, with the arguments that were decided, whatever its schema or a later middleware
 * makes of them: one that repeats a call that failed would repeat a payment.
 */
function onceWith(
  tool: Invoked,
  { args, decided }: { readonly args: unknown; readonly decided: never },
  id = '',
): Invoked {
  const { [RUNS]: runs, invoke } = tool
  let hasRun = false
  const own = Object.create(tool, {
    ...(runs && {
      [RUNS]: { value: (_: unknown, ...others: unknown[]) => runs.call(tool, decided, ...others) },
    }),
    invoke: {
      value: (call: object, ...others: unknown[]) => {
        if (hasRun) throw new RemitDenied(alreadyDecided(id, null))
        hasRun = true
        // Its schema reads them again.
        const decidedCall = { ...call, args: runs ? args : decided }
        return invoke?.call(runs ? own : tool, decidedCall, ...others)
      },
    },
  }) as Invoked
  return own
}

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
