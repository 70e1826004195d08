import { toolMessage } from './verdict.ts'
import type { Deny, Pending } from './verdict.ts'

/** A wrapped tool was not run: Remit denied the call, or could not be asked. */
export class RemitDenied extends Error {
  readonly verdict: Deny
  constructor(verdict: Deny) {
    super(toolMessage(verdict))
    this.name = 'RemitDenied'
    this.verdict = verdict
  }
}

/** A wrapped tool was not run: the call waits for an approval. */
export class RemitPending extends Error {
  readonly verdict: Pending
  constructor(verdict: Pending) {
    super(toolMessage(verdict))
    this.name = 'RemitPending'
    this.verdict = verdict
  }
}

/**
 * Thrown by a tool that had no effect. Its hold is released; after any other error the hold stays,
 * because money may have left before the error.
 */
export class NotExecuted extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NotExecuted'
  }
}

/** An input that cannot be written as JSON. `path` is a JSON Pointer. */
export class Unmappable extends Error {
  constructor(path: string, problem: string) {
    super(`${path === '' ? 'the input' : path} ${problem}`)
    this.name = 'Unmappable'
  }
}
