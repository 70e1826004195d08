import type { IncomingMessage } from 'node:http'
import { readMessage } from '../rpc/message.ts'
import type { Message } from '../rpc/message.ts'
import { mediaTypeOf } from '../upstream/headers.ts'
import { bodyOf, BodyTooLong } from '@remit/sdk/node'
import { Fault } from './respond.ts'

/** The message of a request. Throws `Fault`, or `NotAMessage`, which has its own answer. */
export async function messageIn(request: IncomingMessage, maxBytes: number): Promise<Message> {
  if (mediaTypeOf(request) !== 'application/json')
    throw new Fault(415, 'Content-Type: must be application/json.')
  if (!/^(identity)?$/i.test(request.headers['content-encoding'] ?? ''))
    throw new Fault(415, 'Content-Encoding: must not be sent.', {
      headers: { 'accept-encoding': 'identity' },
    })
  const tooLong = () => new Fault(413, `The body must have at most ${maxBytes} bytes.`)
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLong()
  try {
    return readMessage(await bodyOf(request, maxBytes))
  } catch (error) {
    if (error instanceof BodyTooLong) throw tooLong()
    throw error
  }
}

export const tooMany = (what: string): Fault =>
  new Fault(503, `Too many ${what}; try again later.`, { headers: { 'retry-after': '5' } })
