/** Plain loops over the tool calls of OpenAI's chat completions and responses. */
import { parseJson } from '@remit/contract/fit'
import type { Gate } from '../gate.ts'
import type { SelfTestReport } from '../self-test.ts'
import { resultOf } from './execute.ts'

interface ToolCall {
  readonly id: string
  readonly type?: string
  readonly function?: { readonly name: string; readonly arguments: string }
}

interface ToolAnswer {
  readonly role: 'tool'
  readonly tool_call_id: string
  readonly content: string
}

type Functions = Readonly<Record<string, (input: never) => unknown>>

/**
 * Runs the tool calls of a completion, one after the other, and returns the messages to send next.
 *
 * @example
 * const { message } = completion.choices[0]
 * messages.push(message, ...(await runToolCalls(gate, message.tool_calls, { transfer })))
 */
export async function runToolCalls(
  gate: Gate,
  calls: readonly ToolCall[] | undefined | null,
  functions: Functions,
): Promise<ToolAnswer[]> {
  const answers: ToolAnswer[] = []
  for (const { id, function: called } of calls ?? []) {
    const content = await answer(gate, id, called, functions)
    answers.push({ role: 'tool', tool_call_id: id, content })
  }
  return answers
}

async function answer(
  gate: Gate,
  callId: string,
  called: ToolCall['function'],
  functions: Functions,
): Promise<string> {
  const name = called?.name ?? ''
  const execute = Object.hasOwn(functions, name) ? functions[name] : undefined
  if (!execute) return `There is no tool ${name}`
  const input = parseJson(called?.arguments ?? '')
  if (input === undefined) return 'The arguments are not JSON'
  try {
    const result = await resultOf(gate, { tool: name, input, callId }, execute)
    return typeof result === 'string' ? result : (JSON.stringify(result) ?? '')
  } catch (error) {
    return `The tool failed: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** Drives the canary through the loop. */
export const selfTest = (gate: Gate): Promise<SelfTestReport> =>
  gate.selfTest(async (tested, { name, callId, run }) => {
    const call = { id: callId, type: 'function', function: { name, arguments: '{}' } }
    const [answered] = await runToolCalls(tested, [call], { [name]: run })
    return answered?.content ?? ''
  })
