import type { ProblemCode } from '../../problem.ts'

/** Documentation of one operation, in addition to its contract row. */
export interface OperationText {
  /** Effect, limits and failure of the operation, in a few sentences. */
  readonly text: string
  /** Problems of this operation, in addition to those that its shape implies, such as 401. */
  readonly problems?: readonly ProblemCode[]
}
