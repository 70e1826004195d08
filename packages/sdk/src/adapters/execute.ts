import type { ToolCall, Gate } from '../gate.ts'
import { toolMessage } from '../errors.ts'

/** A `signal` of a host, where it has one. */
export const withSignal = (signal: AbortSignal | undefined): Pick<ToolCall, 'signal'> =>
  signal ? { signal } : {}

/** Runs a call with the input that was decided; what keeps it from running becomes its result, for the model. */
export async function resultOf<T>(
  gate: Gate,
  call: ToolCall,
  execute: (decided: never) => T | Promise<T>,
): Promise<T | string> {
  const done = await gate.run(call, execute)
  return done.kind === 'ran' ? done.result : toolMessage(done)
}
