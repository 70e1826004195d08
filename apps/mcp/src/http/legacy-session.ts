import { randomUUID } from 'node:crypto'
import type { Caller } from '../credentials/callers.ts'
import { Session } from '../decide/session.ts'
import { CODES } from '../rpc/answers.ts'
import { isId, keyOf } from '../rpc/members.ts'
import type { Message, Notification, Request, Response } from '../rpc/message.ts'
import { metaOf } from '../rpc/protocol.ts'
import { cancelledBy } from '../stdio/upstream.ts'
import { AnyRevision } from '../revisions/any-revision.ts'
import type { Connection, OpenStream } from '../upstream/connection.ts'
import { OwnChild } from '../upstream/own-child.ts'
import { Remote } from '../upstream/remote.ts'
import type { Access } from './access.ts'
import { Fault, respond } from './respond.ts'
import type { Reply } from './respond.ts'

/** Messages that wait for a stream of the client. */
const MAX_WAITING = 100

interface Open {
  readonly request: Request
  readonly reply: Reply
  readonly cancelled: AbortController
}

interface Events {
  readonly stream: Promise<OpenStream | null>
  readonly end: AbortController
}

/** A session of a client of 2025-11-25 or before: it has a server, or a session with one, for itself. */
export class LegacySession {
  readonly id: string = randomUUID()
  readonly callerId: string
  readonly access: Access
  readonly #session: Session
  readonly #connection: Connection
  readonly #open = new Map<string, Open>()
  readonly #ended = new AbortController()
  #waiting: Message[] = []
  #stream: Reply | null = null
  #events: Events | null = null
  #usedAt = Date.now()

  constructor(access: Access, caller: Caller, warn: (text: string) => void) {
    this.access = access
    this.callerId = caller.id
    const { actingFor } = caller
    this.#session = new Session(access.governed(), {
      id: this.id,
      running: access.running,
      ownTasks: true,
      ...(actingFor !== undefined && { actingFor }),
    })
    const { upstream } = access
    const receivers = {
      observe: (message: Message) => this.#session.observe(message),
      tell: (message: Message) => this.#route(message),
    }
    if (upstream.kind === 'remote')
      this.#connection = new AnyRevision(new Remote({ ...upstream, warn }), receivers)
    else {
      const child = access.start(upstream)
      void child.ended.then(() => this.#ended.abort())
      const receive = (message: Message) => {
        if (!connection.receive(message)) this.#route(message)
      }
      const connection = new AnyRevision(new OwnChild(child, receive, warn), receivers)
      this.#connection = connection
    }
  }

  /** False once the server has ended, or has forgotten the session. */
  get isAlive(): boolean {
    return !this.#ended.signal.aborted
  }

  /** A request of the client is under way. */
  get isCalling(): boolean {
    return this.#open.size > 0
  }

  isIdle(seconds: number): boolean {
    const isUsed = this.#open.size > 0 || this.#stream?.isOpen === true
    return !isUsed && Date.now() - this.#usedAt > seconds * 1000
  }

  /** Answers a request. The client may go away and the request goes on: only a cancellation ends it. */
  async request(request: Request, reply: Reply): Promise<void> {
    this.#usedAt = Date.now()
    const key = keyOf(request.id)
    if (this.#open.has(key))
      throw new Fault(400, 'id: is in use by another request.', {
        code: CODES.invalidRequest,
        id: request.id,
      })
    const cancelled = new AbortController()
    this.#open.set(key, { request, reply, cancelled })
    try {
      const status = await respond(request, reply, {
        session: this.#session,
        connection: this.#connection,
        signal: cancelled.signal,
        mirrored: {},
        message: (message) => this.#toward(reply, message),
      })
      if (status === 404) this.#ended.abort()
    } finally {
      this.#open.delete(key)
      this.#usedAt = Date.now()
    }
  }

  /** Passes a notification on, or a response to a request of the server. */
  async pass(message: Notification | Response): Promise<void> {
    this.#usedAt = Date.now()
    const cancelled = message.kind === 'notification' ? cancelledBy(message) : undefined
    // The server learns of it first: an aborted call forgets its request.
    await this.#connection.send(message)
    if (isId(cancelled)) this.#open.get(keyOf(cancelled))?.cancelled.abort()
  }

  /**
   * Opens the stream for messages that belong to no request; false where the server has none. It takes the place
   * of the one before, of which nobody may know yet that its connection is gone.
   */
  async listen(reply: Reply, signal: AbortSignal): Promise<boolean> {
    this.#usedAt = Date.now()
    const before = this.#stream
    this.#stream = reply
    before?.close()
    this.#events ??= this.#hear()
    const { stream, end } = this.#events
    const isLast = () => this.#stream === reply
    const leave = () => isLast() && end.abort()
    signal.addEventListener('abort', leave, { once: true })
    if ((await stream) === null) return false
    if (signal.aborted || !isLast()) reply.close()
    else reply.open()
    if (isLast()) for (const message of this.#waiting.splice(0)) reply.message(message)
    return true
  }

  /** The stream of the server, as long as one of the client's follows another. */
  #hear(): Events {
    const end = new AbortController()
    const stream = this.#connection.listen(end.signal, (message) => this.#route(message))
    const events = { stream, end }
    const forget = (hasEnded: boolean) => {
      if (this.#events !== events) return
      this.#events = null
      if (hasEnded) this.#stream?.close()
    }
    end.signal.addEventListener('abort', () => forget(true), { once: true })
    // A client of a server without one gets an answer instead.
    const heard = async () => {
      const open = await stream
      await open?.ended
      forget(open !== null)
    }
    void heard().catch(() => forget(false))
    return events
  }

  async stop(): Promise<void> {
    this.#ended.abort()
    this.#stream?.close()
    await this.#connection.stop()
    await this.#session.settled()
  }

  /** Cancels what is open, when the gateway has waited long enough. */
  abort(): void {
    for (const { cancelled } of this.#open.values()) cancelled.abort()
  }

  #toward(reply: Reply, message: Message): void {
    if (!this.#session.observe(message)) return
    if (reply.takesMessages) reply.message(message)
    else this.#unrelated(message)
  }

  /** A message of a pipe: its progress token tells the request. */
  #route(message: Message): void {
    if (!this.#session.observe(message)) return
    const { progressToken: token } = message.kind === 'notification' ? message.params : {}
    if (token !== undefined)
      for (const { request, reply } of this.#open.values())
        if (metaOf(request.params)['progressToken'] === token && reply.takesMessages) {
          reply.message(message)
          return
        }
    this.#unrelated(message)
  }

  #unrelated(message: Message): void {
    const streams = [
      this.#stream,
      ...[...this.#open.values()].map(({ reply }) => reply).toReversed(),
    ]
    const stream = streams.find((reply) => reply?.takesMessages)
    if (stream) stream.message(message)
    else this.#waiting = [...this.#waiting, message].slice(-MAX_WAITING)
  }
}
