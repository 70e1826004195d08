import type { Readable, Writable } from 'node:stream'
import type { Governed } from '../decide/governed.ts'
import { Session } from '../decide/session.ts'
import { CODES, errorAnswer } from '../rpc/answers.ts'
import { isId, keyOf } from '../rpc/members.ts'
import { NotAMessage, readMessage } from '../rpc/message.ts'
import type { Message, Request } from '../rpc/message.ts'
import type { Child } from './child.ts'
import { LineTooLong, linesOf, writeLine } from './lines.ts'
import { cancelledBy, idIn, MAX_MESSAGE_BYTES, PipedUpstream } from './upstream.ts'

export interface RelayOptions {
  readonly governed: Governed
  readonly child: Child
  readonly stdin: Readable
  readonly stdout: Writable
}

/**
 * Puts the gateway between a client on stdio and one server. Resolves when the client or the server ended,
 * and all outcomes are reported.
 */
export async function relay({ governed, child, stdin, stdout }: RelayOptions): Promise<void> {
  const session = new Session(governed)
  const open = new Map<string, AbortController>()
  const answers = new Set<Promise<void>>()
  const toClient = (message: Buffer | string) => writeLine(stdout, message)
  const upstream = new PipedUpstream(child, {
    warn: governed.warn,
    async message(message) {
      session.observe(message)
      await toClient(message.bytes)
    },
  })

  const answer = async (request: Request): Promise<void> => {
    const key = keyOf(request.id)
    if (open.has(key))
      return toClient(
        errorAnswer(request.id, CODES.invalidRequest, 'id: is in use by another request.'),
      )
    const { signal } = open.set(key, new AbortController()).get(key) ?? new AbortController()
    try {
      const response = await session.respond(request, {
        signal,
        call: (bytes, until = signal) => upstream.call(idIn(bytes), bytes, until),
        notify: (text) => void toClient(text),
      })
      if (!signal.aborted) await toClient(response)
    } catch (error) {
      // A cancelled request has no response.
      if (!signal.aborted) throw error
    } finally {
      open.delete(key)
    }
  }

  const receive = async (message: Message): Promise<void> => {
    if (message.kind === 'request') {
      const answered = answer(message)
      answers.add(answered)
      void answered.finally(() => answers.delete(answered))
      return
    }
    const cancelled = cancelledBy(message)
    // The server learns of it first: an aborted call forgets its request.
    await upstream.send(message.bytes)
    if (isId(cancelled)) open.get(keyOf(cancelled))?.abort()
  }

  const clientEnded = async (): Promise<void> => {
    try {
      for await (const line of linesOf(stdin, MAX_MESSAGE_BYTES)) {
        try {
          await receive(readMessage(line))
        } catch (error) {
          if (!(error instanceof NotAMessage)) throw error
          await toClient(error.answer)
        }
      }
    } catch (error) {
      if (!(error instanceof LineTooLong)) throw error
      await toClient(errorAnswer(null, CODES.invalidRequest, error.message))
    }
  }
  await Promise.race([clientEnded(), child.ended])
  await child.stop()
  await Promise.allSettled(answers)
  await session.settled()
}
