import type { Caller } from './caller.ts'

/** Attempts of agents to act as others. */
export interface Impersonations {
  /** Records that a credential named another agent; durable when the promise resolves. */
  refused(caller: Caller, asked: string, requestId: string): Promise<void>
}
