/** Vercel AI SDK 7: governed tools, and the policy for `toolApproval`. */
import type { Gate } from '../gate.ts'
import type { Canary, Drive, SelfTestReport } from '../self-test.ts'
import { toolMessage } from '../errors.ts'
import { resultOf, withSignal } from './execute.ts'

type Execute = (input: never, options: never) => unknown

interface VercelTool {
  readonly execute?: Execute
  /** The provider runs it with the question to the model; nobody is asked before. */
  readonly isProviderExecuted?: boolean
}

interface ExecuteOptions {
  readonly toolCallId: string
  readonly abortSignal?: AbortSignal
}

/** The last part of a result that comes in parts; the framework shows the others as preliminary. */
async function whole(result: unknown): Promise<unknown> {
  const value = await result
  if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return value
  let last: unknown
  for await (const part of value as AsyncIterable<unknown>) last = part
  return last
}

/**
 * Tools that ask first. A tool without `execute` runs elsewhere and stays as it is: give
 * `toolApproval(gate)` too.
 *
 * @example
 * const tools = governed(gate, { transfer })
 * await generateText({ model, tools, toolApproval: toolApproval(gate), prompt })
 */
export function governed<Tools extends object>(gate: Gate, tools: Tools): Tools {
  const entries = Object.entries(tools).map(([name, tool]: [string, VercelTool]) => {
    const { execute, isProviderExecuted } = tool
    gate.assertTool(name)
    if (isProviderExecuted === true)
      throw new TypeError(`the tool ${name} runs elsewhere and cannot be governed here`)
    if (!execute) return [name, tool]
    const asking = (input: unknown, options: ExecuteOptions) =>
      resultOf(
        gate,
        { tool: name, input, callId: options.toolCallId, ...withSignal(options.abortSignal) },
        (decided) => whole(execute.call(tool, decided, options as never)),
      )
    return [name, { ...tool, execute: asking }]
  })
  return Object.fromEntries(entries) as Tools
}

interface ApprovalQuestion {
  readonly toolCall: {
    readonly toolCallId: string
    readonly toolName: string
    readonly input: unknown
  }
  readonly messages: readonly { readonly content: unknown }[]
}

type ApprovalStatus = {
  readonly type: 'approved' | 'denied' | 'user-approval'
  readonly reason: string
}

/**
 * The policy for `toolApproval`. The app's own answer to a request is no vote: on a resume Remit is asked
 * again, and the call is denied while its approval is pending.
 */
export const toolApproval =
  (gate: Gate) =>
  async ({ toolCall, messages }: ApprovalQuestion): Promise<ApprovalStatus> => {
    const { toolCallId: callId, toolName: tool, input } = toolCall
    try {
      const verdict = await gate.check({ tool, input, callId })
      if (verdict.kind === 'allow') return { type: 'approved', reason: verdict.decisionId }
      const isHeld = verdict.kind === 'pending' && !isResumed(messages, callId)
      return { type: isHeld ? 'user-approval' : 'denied', reason: toolMessage(verdict) }
    } catch (error) {
      return { type: 'denied', reason: String(error) }
    }
  }

interface Part {
  readonly type?: unknown
  readonly approvalId?: unknown
  readonly toolCallId?: unknown
}

/** The app has answered for this call: the framework takes another `user-approval` for an approval then. */
function isResumed(messages: ApprovalQuestion['messages'], callId: string): boolean {
  const parts = messages.flatMap(({ content }) =>
    Array.isArray(content) ? (content as Part[]) : [],
  )
  const ofType = (type: string) => parts.filter((part) => part.type === type)
  const asked = ofType('tool-approval-request').filter(({ toolCallId }) => toolCallId === callId)
  const answered = ofType('tool-approval-response')
  return asked.some((one) => answered.some(({ approvalId }) => approvalId === one.approvalId))
}

/** Drives the canary through `generateText` with the framework's mock model. */
const drive: Drive = async (gate: Gate, canary: Canary) => {
  const { generateText, jsonSchema, stepCountIs, tool } = await import('ai')
  const { MockLanguageModelV4 } = await import('ai/test')
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  }
  const call = {
    type: 'tool-call',
    toolCallId: canary.callId,
    toolName: canary.name,
    input: '{}',
  } as const
  const model = new MockLanguageModelV4({
    doGenerate: [
      {
        content: [call],
        finishReason: { unified: 'tool-calls', raw: undefined },
        usage,
        warnings: [],
      },
      {
        content: [{ type: 'text', text: 'done' }],
        finishReason: { unified: 'stop', raw: undefined },
        usage,
        warnings: [],
      },
    ],
  })
  const tools = governed(gate, {
    [canary.name]: tool({
      description: canary.description,
      inputSchema: jsonSchema<object>({ type: 'object', properties: {} }),
      execute: () => canary.run(),
    }),
  })
  const { steps } = await generateText({
    model,
    tools,
    toolApproval: toolApproval(gate),
    prompt: 'Call the canary.',
    stopWhen: stepCountIs(2),
  })
  return JSON.stringify(steps.map(({ content }) => content))
}

export const selfTest = (gate: Gate): Promise<SelfTestReport> => gate.selfTest(drive)
