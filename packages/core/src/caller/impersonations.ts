import type { Caller } from './caller.ts'

/** Attempts of agents to act as others. */
export interface Impersonations {
  /** Records that a credential asked as another agent; the record is durable when it resolves. */
  refused(caller: Caller, asked: string, requestId: string): Promise<void>
}
