import { CODES, errorAnswer } from '../rpc/answers.ts'
import type { Id } from '../rpc/members.ts'

/** A request that is refused before it is decided. */
export class Fault extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly answer: string
  constructor(
    status: number,
    message: string,
    {
      code = CODES.refused,
      id = null,
      headers = {},
    }: { code?: number; id?: Id | null; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message)
    this.status = status
    this.headers = headers
    this.answer = errorAnswer(id, code, message)
  }
}
