import { createHmac, timingSafeEqual } from 'node:crypto'
import { textOf } from '../rpc/members.ts'
import type { Members } from '../rpc/members.ts'
import type { Question } from './question.ts'

const PREFIX = 'remit1.'

/** An approval that a client waits for, as `requestState` of its retry. */
interface WaitingCall {
  readonly callId: string
  readonly approvalId: string
}

/**
 * Signs and reads `requestState`. The key comes from the gateway's credential, so that another process of
 * the same gateway reads it too. The state names a call and grants nothing: a retry is decided again.
 */
export class RequestStates {
  readonly #secret: string

  constructor(secret: string) {
    this.#secret = secret
  }

  write(waiting: WaitingCall): string {
    const body = Buffer.from(JSON.stringify(waiting)).toString('base64url')
    return `${PREFIX}${body}.${this.#sign(body).toString('base64url')}`
  }

  /** The waiting call; null for a state of somebody else, `invalid` for one that was changed. */
  read(state: unknown): WaitingCall | null | 'invalid' {
    if (typeof state !== 'string' || !state.startsWith(PREFIX)) return null
    const [body = '', signature = ''] = state.slice(PREFIX.length).split('.')
    const given = Buffer.from(signature, 'base64url')
    const expected = this.#sign(body)
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'invalid'
    return JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as WaitingCall
  }

  #sign(body: string): Buffer {
    return createHmac('sha256', this.#secret).update(`requestState.${body}`).digest()
  }
}

/** A call without the members that only the gateway asked for. */
export function withoutRetry(question: Question): Question {
  const message = JSON.parse(question.bytes.toString('utf8')) as { params: Members }
  const bytes = Buffer.from(textOf({ ...message, params: withoutAnswers(message.params) }))
  return { ...question, params: withoutAnswers(question.params), bytes }
}

/** The members of a request without those that answer an `input_required`. Pure. */
export function withoutAnswers(params: Members): Members {
  const { inputResponses: _, requestState: __, ...others } = params
  return others
}
