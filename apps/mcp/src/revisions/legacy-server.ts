import { randomUUID } from 'node:crypto'
import { CODES } from '../rpc/answers.ts'
import { isMembers } from '../rpc/members.ts'
import type { Members } from '../rpc/members.ts'
import { responseIn } from '../rpc/message.ts'
import type { Message, Request, Response, Notification } from '../rpc/message.ts'
import { META_KEYS, metaOf, SUBSCRIPTION_ID, UPDATED } from '../rpc/protocol.ts'
import { Refused } from '../upstream/connection.ts'
import type { Connection, Outgoing } from '../upstream/connection.ts'
import {
  failureOf,
  isAsk,
  LEGACY,
  MODERN,
  modernAsk,
  modernError,
  modernResult,
  notificationOf,
  requestOf,
  resultOf,
  sharedCapabilities,
  withoutEnvelope,
} from './messages.ts'

const HELD = 'remit-held.'
const AGAIN = 'remit-again.'
/** Milliseconds for which a call waits for the answers of its client. */
const HELD_MS = 600_000
const MAX_HELD = 100

/**
 * A server of 2025-11-25 for clients of 2026-07-28: it has one session with the gateway. What it asks during
 * a call becomes the interim result of that call, which goes on with the answers.
 */
export class LegacyServer implements Connection {
  readonly #server: Connection
  readonly #observe: (message: Message) => void
  readonly #calls = new Map<string, HeldCall>()
  readonly #waiting = new Map<string, HeldCall>()
  readonly #subscriptions: Subscriptions
  readonly #ended = new AbortController()
  #session: Promise<Members> | null = null
  #level: unknown
  #count = 0

  /** `observe` receives notifications that belong to no request. */
  constructor(server: Connection, observe: (message: Message) => void) {
    this.#server = server
    this.#observe = observe
    this.#subscriptions = new Subscriptions((method, params) => this.#ask(method, params))
  }

  async call(outgoing: Outgoing): Promise<Buffer> {
    const { request } = outgoing
    outgoing.answered(200)
    const server = await this.#begun(request)
    if (request.method === 'server/discover') return resultOf(request.id, discovered(server)).bytes
    if (request.method === 'subscriptions/listen')
      return (await this.#subscriptions.open(outgoing)).bytes
    const state = request.params['requestState']
    if (typeof state !== 'string' || !state.startsWith(HELD)) return this.#start(outgoing)
    const held = this.#waiting.get(state)
    if (held?.call !== callOf(request))
      return failureOf(request.id, {
        code: CODES.invalidParams,
        message:
          'params.requestState: the call has ended, or is another one; call again without it.',
      }).bytes
    return this.#goOn(held, state, outgoing)
  }

  /** Clients of 2026-07-28 send no notification that a server of 2025-11-25 could need. */
  send(): Promise<void> {
    return Promise.resolve()
  }

  listen(): Promise<null> {
    return Promise.resolve(null)
  }

  async stop(): Promise<void> {
    this.#ended.abort()
    for (const { controller } of this.#calls.values()) controller.abort(new Error('Stopped.'))
    await this.#server.stop()
  }

  /** Takes a message of the server that belongs to no call, or to the call whose stream had it. */
  receive(message: Message, related?: HeldCall): void {
    if (message.kind === 'response') return
    if (message.kind === 'request') return this.#asked(message, related)
    const { method, params } = message
    if (method === 'notifications/progress') return this.#progress(params)
    if (method === 'notifications/message') {
      const isWanted = ({ outgoing: { request } }: HeldCall) =>
        metaOf(request.params)[META_KEYS.logLevel] !== undefined
      for (const call of related ? [related] : this.#calls.values())
        if (isWanted(call)) call.outgoing.message(message)
      return
    }
    this.#observe(message)
    this.#subscriptions.tell(message)
  }

  /** The result of `initialize`, which the first request begins. */
  #begun(request: Request): Promise<Members> {
    this.#session ??= this.#begin(metaOf(request.params)).catch((error: unknown) => {
      this.#session = null
      throw error
    })
    return this.#session
  }

  async #begin(envelope: Members): Promise<Members> {
    const result = await this.#ask('initialize', {
      protocolVersion: LEGACY,
      capabilities: sharedCapabilities(envelope[META_KEYS.clientCapabilities]),
      clientInfo: envelope[META_KEYS.clientInfo] ?? { name: 'remit-mcp', version: '1' },
    })
    await this.#server.send(notificationOf('notifications/initialized', {}))
    void this.#server
      .listen(this.#ended.signal, (message) => this.receive(message))
      .catch(() => undefined)
    return result
  }

  /** A request of the gateway itself. Rejects where the server refuses it. */
  async #ask(method: string, params: Members): Promise<Members> {
    const response = await this.#send(requestOf(this.#nextId(), method, params), {
      signal: this.#ended.signal,
      message: (message) => this.receive(message),
    })
    if (response.result) return response.result
    throw new Error(`The server refused ${method}: ${String(response.error?.['message'])}`)
  }

  async #send(
    request: Request,
    { signal, message }: Pick<Outgoing, 'signal' | 'message'>,
  ): Promise<Response> {
    const answered = () => undefined
    const bytes = await this.#server.call({ request, signal, message, answered, mirrored: {} })
    return responseIn(bytes)
  }

  async #start(outgoing: Outgoing): Promise<Buffer> {
    const { request } = outgoing
    await this.#setLevel(metaOf(request.params)[META_KEYS.logLevel])
    const id = this.#nextId()
    const held = new HeldCall(outgoing, (call) => this.#run(id, call))
    return this.#answer(held, `${HELD}${randomUUID()}`, outgoing)
  }

  async #run(id: string, held: HeldCall): Promise<Response> {
    const { request } = held.outgoing
    const params = withoutEnvelope(request.params)
    const meta = metaOf(params)
    // Clients choose tokens for themselves, and share the session.
    const own =
      meta['progressToken'] === undefined
        ? params
        : { ...params, _meta: { ...meta, progressToken: id } }
    this.#calls.set(id, held)
    const { signal } = held.controller
    const cancel = () =>
      void this.#server
        .send(notificationOf('notifications/cancelled', { requestId: id }))
        .catch(() => undefined)
    signal.addEventListener('abort', cancel, { once: true })
    try {
      return await this.#send(requestOf(id, request.method, own), {
        signal,
        message: (message) => this.receive(message, held),
      })
    } catch (error) {
      // The server has forgotten the session: the next request begins another.
      if (error instanceof Refused && error.status === 404) this.#session = null
      throw error
    } finally {
      signal.removeEventListener('abort', cancel)
      this.#calls.delete(id)
    }
  }

  /** Passes answers of the client on, and asks again for those that are missing. */
  async #goOn(held: HeldCall, state: string, outgoing: Outgoing): Promise<Buffer> {
    const { inputResponses } = outgoing.request.params
    held.outgoing = outgoing
    const given = isMembers(inputResponses) ? inputResponses : {}
    for (const [key, { id }] of held.asked) {
      const answer = given[key]
      if (!isMembers(answer)) continue
      held.asked.delete(key)
      await this.#server.send(resultOf(id, answer))
    }
    if (held.asked.size > 0) return interim(outgoing.request, held, state)
    return this.#answer(held, state, outgoing)
  }

  async #answer(held: HeldCall, state: string, { request, signal }: Outgoing): Promise<Buffer> {
    const abort = () => held.controller.abort(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    try {
      const step = await held.next()
      if ('response' in step) {
        this.#waiting.delete(state)
        return finalAnswer(request, step.response).bytes
      }
      for (const ask of step.asks) held.asked.set(`ask-${++this.#count}`, ask)
      this.#keep(state, held)
      return interim(request, held, state)
    } catch (error) {
      this.#waiting.delete(state)
      throw error
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  #keep(state: string, held: HeldCall): void {
    if (this.#waiting.has(state)) return
    this.#waiting.set(state, held)
    const end = () => {
      if (this.#waiting.delete(state)) held.controller.abort(new Error('Nobody answered.'))
    }
    const timer = setTimeout(end, HELD_MS).unref()
    held.controller.signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
    const [oldest] = this.#waiting.values()
    if (this.#waiting.size > MAX_HELD) oldest?.controller.abort(new Error('Too many calls wait.'))
  }

  /** A pipe does not say to which call a request of the server belongs: the newest one asks its client. */
  #asked(request: Request, related: HeldCall | undefined): void {
    const { id, method } = request
    const call = related ?? [...this.#calls.values()].at(-1)
    if (method === 'ping') void this.#server.send(resultOf(id, {}))
    else if (call && isAsk(method)) call.ask(request)
    else {
      const message = 'No client can be asked.'
      void this.#server.send(failureOf(id, { code: CODES.methodNotFound, message }))
    }
  }

  #progress(params: Members): void {
    const call = this.#calls.get(String(params['progressToken']))
    if (!call) return
    const { progressToken } = metaOf(call.outgoing.request.params)
    call.outgoing.message(notificationOf('notifications/progress', { ...params, progressToken }))
  }

  async #setLevel(level: unknown): Promise<void> {
    if (level === undefined || level === this.#level) return
    this.#level = level
    // A server without logging refuses it, and logs nothing.
    await this.#ask('logging/setLevel', { level }).catch(() => undefined)
  }

  #nextId(): string {
    return `call-${++this.#count}`
  }
}

const discovered = ({ capabilities, serverInfo, instructions }: Members): Members =>
  modernResult('server/discover', {
    supportedVersions: [MODERN],
    capabilities: sharedCapabilities(capabilities),
    ...(instructions !== undefined && { instructions }),
    ...(serverInfo !== undefined && { _meta: { [META_KEYS.serverInfo]: serverInfo } }),
  })

function interim({ id }: Request, { asked }: HeldCall, requestState: string): Buffer {
  const inputRequests = Object.fromEntries([...asked].map(([key, ask]) => [key, modernAsk(ask)]))
  return resultOf(id, { resultType: 'input_required', inputRequests, requestState }).bytes
}

function finalAnswer({ id, method }: Request, { result, error }: Response): Response {
  if (result) return resultOf(id, modernResult(method, result))
  const pages = pagesIn(error ?? {})
  if (pages === null) return failureOf(id, modernError(error ?? {}))
  const inputRequests = Object.fromEntries(
    pages.map((params, at) => [
      `page-${at}`,
      modernAsk({ method: 'elicitation/create', params: { ...params, mode: 'url' } }),
    ]),
  )
  const requestState = `${AGAIN}${randomUUID()}`
  return resultOf(id, { resultType: 'input_required', inputRequests, requestState })
}

/** The pages that a call needs before it is repeated (-32042); null for another error. */
function pagesIn({ code, data }: Members): Members[] | null {
  if (code !== CODES.urlElicitationRequired || !isMembers(data)) return null
  const { elicitations } = data
  return Array.isArray(elicitations) ? (elicitations as unknown[]).filter(isMembers) : null
}

/** The end of a call, or what the server asks before. */
type Step = { readonly response: Response } | { readonly asks: readonly Request[] }

/** A call that a server of 2025-11-25 carries out, while its client comes and goes with answers. */
class HeldCall {
  /** Method, target and arguments: an answer belongs to the same call. */
  readonly call: string
  readonly controller = new AbortController()
  /** The newest request of the client about this call. */
  outgoing: Outgoing
  /** The questions that the client was asked, by key. */
  readonly asked = new Map<string, Request>()
  readonly #response: Promise<Response>
  #asks: Request[] = []
  #woken = Promise.withResolvers<void>()

  constructor(outgoing: Outgoing, run: (held: HeldCall) => Promise<Response>) {
    this.call = callOf(outgoing.request)
    this.outgoing = outgoing
    this.#response = run(this)
    // It may end while nobody waits.
    this.#response.catch(() => undefined)
  }

  ask(request: Request): void {
    this.#asks.push(request)
    this.#woken.resolve()
  }

  /** Resolves with the response, or with what the server asks. */
  async next(): Promise<Step> {
    const ended = this.#response.then((response) => ({ response }))
    const asked = this.#woken.promise.then(() => null)
    const step = await Promise.race([ended, asked])
    if (step) return step
    this.#woken = Promise.withResolvers()
    return { asks: this.#asks.splice(0) }
  }
}

/** Identifies the call of a request, without what differs between its attempts. Pure. */
function callOf({ method, params }: Request): string {
  const { _meta: _, requestState: __, inputResponses: ___, ...call }: Members = params
  return JSON.stringify([method, call])
}

const CHANGES: Readonly<Record<string, string>> = {
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged',
}

interface Subscription {
  readonly outgoing: Outgoing
  readonly filter: Members
  readonly uris: readonly string[]
}

/** Streams of `subscriptions/listen` over a session of 2025-11-25, which subscribes to resources one by one. */
class Subscriptions {
  readonly #ask: (method: string, params: Members) => Promise<unknown>
  readonly #open = new Set<Subscription>()

  constructor(ask: (method: string, params: Members) => Promise<unknown>) {
    this.#ask = ask
  }

  /** Opens a stream. Resolves when the client ends it. */
  async open(outgoing: Outgoing): Promise<Response> {
    const { request, signal } = outgoing
    const { notifications } = request.params
    const filter = isMembers(notifications) ? notifications : {}
    const { resourceSubscriptions } = filter
    const uris = Array.isArray(resourceSubscriptions) ? resourceSubscriptions.map(String) : []
    for (const uri of uris) if (!this.#isUsed(uri)) await this.#ask('resources/subscribe', { uri })
    const subscription = { outgoing, filter, uris }
    this.#open.add(subscription)
    const ended = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    const acknowledged = 'notifications/subscriptions/acknowledged'
    this.#tell(outgoing, notificationOf(acknowledged, { notifications: filter }))
    if (!signal.aborted) await ended
    this.#open.delete(subscription)
    for (const uri of uris)
      if (!this.#isUsed(uri))
        await this.#ask('resources/unsubscribe', { uri }).catch(() => undefined)
    return resultOf(request.id, {
      resultType: 'complete',
      _meta: { [SUBSCRIPTION_ID]: request.id },
    })
  }

  /** Tells a change to the streams that want it. */
  tell(message: Notification): void {
    const { method, params } = message
    const isWanted = ({ filter, uris }: Subscription) =>
      method === UPDATED
        ? uris.includes(String(params['uri']))
        : filter[CHANGES[method] ?? ''] === true
    for (const subscription of this.#open)
      if (isWanted(subscription)) this.#tell(subscription.outgoing, message)
  }

  #tell({ request, message }: Outgoing, { method, params }: Notification): void {
    const meta = { ...metaOf(params), [SUBSCRIPTION_ID]: request.id }
    message(notificationOf(method, { ...params, _meta: meta }))
  }

  #isUsed(uri: string): boolean {
    return [...this.#open].some(({ uris }) => uris.includes(uri))
  }
}
