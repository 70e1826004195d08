import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Members } from '../rpc/members.ts'

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

/** The request without the members that only the gateway asked for. */
export function withoutRetry(bytes: Buffer): Buffer {
  const message = JSON.parse(bytes.toString('utf8')) as { params: Members }
  const { inputResponses: _, requestState: __, ...params } = message.params
  return Buffer.from(JSON.stringify({ ...message, params }))
}
