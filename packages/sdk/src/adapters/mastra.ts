/** Mastra: tools that ask before they run. */
import type { AgentConfig } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import type { Gate } from '../gate.ts'
import type { Canary, Drive, SelfTestReport } from '../self-test.ts'
import { isUnchanged, snapshot } from '../snapshot.ts'
import { deny, toolMessage } from '../errors.ts'
import { withSignal } from './execute.ts'

interface Resuming {
  readonly resumeData?: unknown
}
interface Called extends Resuming {
  readonly toolCallId?: string
  readonly suspend?: (payload: unknown) => Promise<unknown>
}
/** A tool of the Vercel AI SDK has the members of `agent` itself. */
interface Context extends Called {
  readonly agent?: Called
  readonly workflow?: Resuming
  readonly abortSignal?: AbortSignal
}
interface MastraTool {
  readonly execute?: (input: never, context: never) => unknown
  readonly inputSchema?: unknown
}

/**
 * Tools of an agent, by name, that ask first. With the approval mode `return`, a pending call suspends the
 * run with `{ approval_id, until, message }`; resumed, it asks again, and suspends while it is pending.
 *
 * @example
 * const agent = new Agent({ id, name, instructions, model, tools: governed(gate, { transfer }) })
 */
export function governed<Tools extends object>(gate: Gate, tools: Tools): Tools {
  const entries = Object.entries(tools).map(([name, tool]: [string, MastraTool]) => {
    const { execute } = tool
    if (!execute) throw new TypeError(`the tool ${name} runs elsewhere and cannot be governed here`)
    gate.assertTool(name)
    const read = readerOf(tool)
    const asking = async (raw: unknown, context: Context = {}): Promise<unknown> => {
      const { toolCallId: callId, suspend } = context.agent ?? context
      const input = await read(raw, context)
      if (input instanceof TypeError)
        return toolMessage(deny(callId ?? '', 'unmappable', input.message))
      const call = { tool: name, input, ...(callId !== undefined && { callId }) }
      const done = await gate.run(
        { ...call, ...withSignal(context.abortSignal) },
        (decided: never) => execute.call(tool, decided, context as never),
      )
      if (done.kind === 'ran') return done.result
      if (done.kind === 'pending' && gate.options.approval?.mode === 'return' && suspend)
        return suspend({ approval_id: done.approvalId, until: done.until, message: done.message })
      return toolMessage(done)
    }
    // The framework looks at the class of a tool.
    const copy = Object.assign(Object.create(Object.getPrototypeOf(tool) as object) as object, tool)
    // A denial is a text, whatever the tool's output is.
    return [name, Object.assign(copy, { execute: asking, outputSchema: undefined })]
  })
  return Object.fromEntries(entries) as Tools
}

type Read = (raw: unknown, context: Context) => unknown

/**
 * Reads the arguments of a call as the tool does: its schema fills in defaults, and converts values. An agent reads
 * them before, for some models the tool reads them again, and for a resumed run neither does. Rules must judge the
 * arguments that the tool runs with. Returns a `TypeError` where a second reading would change them.
 */
function readerOf({ inputSchema }: MastraTool): Read {
  if (typeof inputSchema !== 'object' || inputSchema === null || !('~standard' in inputSchema))
    return (raw) => raw
  // The tool corrects arguments that its schema refuses, and nothing but a tool does it alike.
  const reading = createTool({
    id: 'arguments',
    description: '',
    inputSchema: inputSchema as never,
    execute: (args: unknown) => Promise.resolve([args]),
  }) as unknown as { readonly execute: (raw: unknown, context: object) => Promise<unknown> }
  const read = async (raw: unknown): Promise<unknown[] | null> => {
    const made = await reading.execute(raw, {})
    return Array.isArray(made) ? (made as unknown[]) : null
  }
  return async (raw, { resumeData, agent, workflow }) => {
    // The tool refuses what it cannot read, unless the agent has made it of arguments that were right.
    const [input] = (await read(raw)) ?? [raw]
    const isResumed = (resumeData ?? agent?.resumeData ?? workflow?.resumeData) != null
    if (isResumed || isSame(raw, input)) return input
    const again = await read(input)
    if (again && isSame(input, again[0])) return input
    return new TypeError('The schema of the tool changes the arguments that it has made.')
  }
}

function isSame(one: unknown, other: unknown): boolean {
  try {
    return isUnchanged(snapshot(one), other)
  } catch {
    return false
  }
}

type MastraModel = Extract<AgentConfig['model'], { readonly specificationVersion: 'v2' }>

/** Drives the canary through an agent with a scripted model. */
const drive: Drive = async (gate: Gate, canary: Canary) => {
  const { Mastra } = await import('@mastra/core')
  const { Agent } = await import('@mastra/core/agent')
  const { InMemoryStore } = await import('@mastra/core/storage')
  const { MastraLanguageModelV2Mock } = await import('@mastra/core/test-utils/llm-mock')
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
  const call = {
    type: 'tool-call',
    toolCallId: canary.callId,
    toolName: canary.name,
    input: '{}',
  } as const
  let turn = 0
  const model = new MastraLanguageModelV2Mock({
    doGenerate: () =>
      Promise.resolve(
        turn++ === 0
          ? { content: [call], finishReason: 'tool-calls', usage, warnings: [] }
          : {
              content: [{ type: 'text', text: 'done' }],
              finishReason: 'stop',
              usage,
              warnings: [],
            },
      ),
  })
  const tool = createTool({
    id: canary.name,
    description: canary.description,
    execute: () => Promise.resolve(canary.run()),
  })
  const selftest = new Agent({
    id: 'selftest',
    name: 'selftest',
    instructions: 'Call the canary.',
    // The framework's mock differs from its own type in an optional member only.
    model: model as unknown as MastraModel,
    tools: governed(gate, { [canary.name]: tool }),
  })
  // A suspended run is resumed from a storage.
  const mastra = new Mastra({
    agents: { selftest },
    storage: new InMemoryStore(),
    logger: false,
  })
  const agent = mastra.getAgent('selftest')
  const first = await agent.generate('Call the canary.', { maxSteps: 2 })
  const { runId } = first
  const isHeld = first.finishReason === 'suspended' && runId !== undefined
  const last: { readonly suspendPayload?: unknown; readonly toolResults?: unknown } = isHeld
    ? await agent.resumeGenerate({}, { runId, toolCallId: canary.callId })
    : first
  return JSON.stringify(last.suspendPayload ?? last.toolResults)
}

export const selfTest = (gate: Gate): Promise<SelfTestReport> => gate.selfTest(drive)
