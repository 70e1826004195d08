import type { ProblemCode } from '../../problem.ts'

/** Documentation of one operation, beside the row of the contract. */
export interface OperationText {
  /** Effect, limits and failure of the operation, in a few sentences. */
  readonly text: string
  /** Problems of this operation, beside those that its shape implies, such as 401. */
  readonly problems?: readonly ProblemCode[]
}
