import type { Session } from '../decide/session.ts'
import { keyOf } from '../rpc/members.ts'
import { readMessage } from '../rpc/message.ts'
import type { Message, Request } from '../rpc/message.ts'
import { eraOf, isKnownMethod } from '../rpc/protocol.ts'
import { Refused } from '../upstream/connection.ts'
import type { Connection } from '../upstream/connection.ts'
import type { Reply } from './reply.ts'

interface Way {
  readonly session: Session
  readonly connection: Connection
  readonly signal: AbortSignal
  readonly mirrored: Readonly<Record<string, string>>
  readonly message: (message: Message) => void
}

/** Decides a request, forwards it and answers it. Resolves with the status of the response. */
export async function respond(request: Request, reply: Reply, way: Way): Promise<number> {
  const { session, connection, signal, mirrored, message } = way
  let refused: Refused | null = null
  let answeredWith = isKnownMethod(eraOf(request), request.method) ? 200 : 404
  try {
    const response = await session.respond(request, {
      signal,
      gone: reply.gone,
      notify: (text) => reply.message({ bytes: Buffer.from(text) }),
      async call(bytes, until = signal) {
        const outgoing = bytes === request.bytes ? request : (readMessage(bytes) as Request)
        const isOwn = keyOf(outgoing.id) !== keyOf(request.id)
        try {
          const answered = (code: number) => {
            if (!isOwn) answeredWith = code
          }
          return await connection.call({
            request: outgoing,
            signal: until,
            mirrored,
            message,
            answered,
          })
        } catch (error) {
          if (error instanceof Refused && !isOwn) refused = error
          throw error
        }
      },
    })
    // Since 2026-07-28 an unknown method is a resource that does not exist.
    const own = eraOf(request) === 'modern' ? answeredWith : 200
    const { status, body } = refused ?? { status: own, body: response }
    reply.end(body, status)
    return status
  } catch (error) {
    // A cancelled request has no response.
    if (!signal.aborted) throw error
    reply.close(202)
    return 202
  }
}
