/** OpenAI Agents SDK: tools that ask before they run. */
import type { Model } from '@openai/agents'
import type { Gate } from '../gate.ts'
import type { Canary, Drive, SelfTestReport } from '../self-test.ts'
import { resultOf, withSignal } from './execute.ts'

interface Details {
  readonly toolCall?: { readonly callId?: string }
  readonly signal?: AbortSignal
}
type Execute = (input: never, context: never, details: never) => unknown
type NeedsApproval = boolean | ((context: never, input: never, callId?: string) => unknown)

interface ToolOptions {
  readonly name?: string
  readonly execute?: Execute
  readonly invoke?: unknown
  readonly needsApproval?: NeedsApproval
}

/**
 * The options of `tool(…)`, such that it asks first, with the arguments that its schema made. With the approval mode
 * `return`, a pending call interrupts the run; after `state.approve(item)` Remit is asked again, and decides.
 *
 * @example
 * const transfer = tool(governed(gate, { name: 'transfer', description, parameters, execute }))
 */
export function governed<Options extends object>(gate: Gate, options: Options): Options {
  const tool: ToolOptions = options
  const { execute, name = '' } = tool
  if (name === '') throw new TypeError('a governed tool needs a name')
  // A result of `tool(…)` reads the arguments, and turns errors into texts, where nobody else sees either.
  if (!execute && tool.invoke !== undefined)
    throw new TypeError(`govern the options of the tool ${name}: tool(governed(gate, options))`)
  if (!execute) throw new TypeError(`the tool ${name} runs elsewhere and cannot be governed here`)
  gate.assertTool(name)
  const asking = async (input: unknown, context: unknown, details?: Details): Promise<unknown> => {
    const callId = details?.toolCall?.callId
    const call = { tool: name, input, ...(callId !== undefined && { callId }) }
    return resultOf(gate, { ...call, ...withSignal(details?.signal) }, (decided) =>
      execute.call(tool, decided, context as never, details as never),
    )
  }
  const needsApproval = async (context: unknown, input: unknown, callId?: string) => {
    const own = tool.needsApproval
    if (typeof own === 'function' ? await own(context as never, input as never, callId) : own)
      return true
    const call = { tool: name, input, ...(callId !== undefined && { callId }) }
    return (await gate.check(call)).kind === 'pending'
  }
  const canInterrupt = gate.options.approval?.mode === 'return'
  return { ...options, execute: asking, ...(canInterrupt && { needsApproval }) }
}

const PARAMETERS = {
  type: 'object' as const,
  properties: {},
  required: [],
  additionalProperties: false as const,
}

/** Drives the canary through `run` with a scripted model. */
const drive: Drive = async (gate: Gate, canary: Canary) => {
  const { Agent, Runner, tool, Usage } = await import('@openai/agents')
  const call = { type: 'function_call', callId: canary.callId, name: canary.name } as const
  const answer = { type: 'message', role: 'assistant', status: 'completed' } as const
  let turn = 0
  const model: Model = {
    getResponse: () =>
      Promise.resolve({
        usage: new Usage(),
        output: [
          turn++ === 0
            ? { ...call, status: 'completed', arguments: '{}' }
            : { ...answer, content: [{ type: 'output_text', text: 'done' }] },
        ],
      }),
    getStreamedResponse: () => {
      throw new Error('the self-test does not stream')
    },
  }
  const agent = new Agent({
    name: 'selftest',
    model,
    tools: [
      tool(
        governed(gate, {
          name: canary.name,
          description: canary.description,
          parameters: PARAMETERS,
          strict: true as const,
          execute: () => canary.run(),
        }),
      ),
    ],
  })
  const runner = new Runner({ tracingDisabled: true })
  let result = await runner.run(agent, 'Call the canary.')
  // The operator of the agent says yes to everything; Remit decides all the same.
  for (let resumes = 0; resumes < 2 && result.interruptions.length > 0; resumes++) {
    for (const item of result.interruptions) result.state.approve(item)
    result = await runner.run(agent, result.state)
  }
  return JSON.stringify(result.history)
}

export const selfTest = (gate: Gate): Promise<SelfTestReport> => gate.selfTest(drive)
