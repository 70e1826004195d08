import type { Readable, Writable } from 'node:stream'
import type { Governed } from '../decide/governed.ts'
import { Session } from '../decide/session.ts'
import { CODES, errorAnswer } from '../rpc/answers.ts'
import { isId, keyOf } from '../rpc/members.ts'
import { NotAMessage, readMessage } from '../rpc/message.ts'
import type { Message, Request } from '../rpc/message.ts'
import type { Child } from '../stdio/child.ts'
import { LineTooLong, linesOf, writeLine } from '../stdio/child.ts'
import { AnyRevision } from '../revisions/any-revision.ts'
import { OwnChild } from '../upstream/own-child.ts'
import { cancelledBy, MAX_MESSAGE_BYTES } from '../stdio/upstream.ts'

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
  const gone = new AbortController()
  const open = new Map<string, AbortController>()
  const answers = new Set<Promise<void>>()
  const toClient = (message: Buffer | string) => writeLine(stdout, message)
  const pass = async (message: Message): Promise<void> => {
    if (session.observe(message)) await toClient(message.bytes)
  }
  const receive = (message: Message) =>
    server.receive(message) ? Promise.resolve() : pass(message)
  const server = new AnyRevision(new OwnChild(child, receive, governed.warn), {
    observe: (message) => session.observe(message),
    tell: (message) => void pass(message),
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
        gone: gone.signal,
        call: (bytes, until = signal) =>
          server.call({
            request: bytes === request.bytes ? request : (readMessage(bytes) as Request),
            signal: until,
            mirrored: {},
            message: (message) => void pass(message),
            answered: () => undefined,
          }),
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

  const take = async (message: Message): Promise<void> => {
    if (message.kind === 'request') {
      const answered = answer(message)
      answers.add(answered)
      void answered.finally(() => answers.delete(answered))
      return
    }
    const cancelled = cancelledBy(message)
    // The server learns of it first: an aborted call forgets its request.
    await server.send(message)
    if (isId(cancelled)) open.get(keyOf(cancelled))?.abort()
  }

  const clientEnded = async (): Promise<void> => {
    try {
      for await (const line of linesOf(stdin, MAX_MESSAGE_BYTES)) {
        try {
          await take(readMessage(line))
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
  gone.abort()
  await child.stop()
  await Promise.allSettled(answers)
  await session.settled()
}
