import { parseJson } from '@remit/contract/json'
import { randomUUID } from 'node:crypto'
import { readUpstream, responseIn } from '../rpc/message.ts'
import type { Message, Notification, Response, Request } from '../rpc/message.ts'
import { eraOf, META_KEYS, metaOf, SUBSCRIPTION_ID } from '../rpc/protocol.ts'
import type { Era } from '../rpc/protocol.ts'
import { Refused } from '../upstream/connection.ts'
import type { Connection, OpenStream, Outgoing } from '../upstream/connection.ts'
import { LegacyServer } from './legacy-server.ts'
import { isMembers, isId, keyOf } from '../rpc/members.ts'
import type { Id, Members } from '../rpc/members.ts'
import {
  MODERN,
  requestOf,
  failureOf,
  LEGACY,
  legacyAsk,
  legacyError,
  legacyResult,
  notificationOf,
  resultOf,
  sharedCapabilities,
  withEnvelope,
} from './messages.ts'
import { cancelledBy } from '../stdio/upstream.ts'

type Translator = LegacyServer | ModernServer

/** Receivers of translated messages that belong to no request of the client. */
export interface Receivers {
  /** Learns of changes that a client of 2026-07-28 is told only where it listens. */
  readonly observe: (message: Message) => void
  /** Passes a message on to a client of 2025-11-25. */
  readonly tell: (message: Message) => void
}

/**
 * A server for clients of either revision. Where it speaks the revision of the client, bytes pass; where it
 * does not, messages are translated.
 */
export class AnyRevision implements Connection {
  readonly #server: Connection
  readonly #receivers: Receivers
  #translator: Translator | null = null
  #isNative = false
  #finding: Promise<void> | null = null

  constructor(server: Connection, receivers: Receivers) {
    this.#server = server
    this.#receivers = receivers
  }

  async call(outgoing: Outgoing): Promise<Buffer> {
    const { request } = outgoing
    if (eraOf(request) === 'modern') await this.#findForModern()
    else if (request.method === 'initialize') return this.#initialize(outgoing)
    return (this.#translator ?? this.#server).call(outgoing)
  }

  send(message: Notification | Response): Promise<void> {
    return (this.#translator ?? this.#server).send(message)
  }

  listen(signal: AbortSignal, message: (message: Message) => void): Promise<OpenStream | null> {
    return (this.#translator ?? this.#server).listen(signal, message)
  }

  stop(): Promise<void> {
    return (this.#translator ?? this.#server).stop()
  }

  /** Takes a message of a pipe; false where it is one for the client as it is. */
  receive(message: Message): boolean {
    this.#translator?.receive(message)
    return this.#translator !== null
  }

  async #findForModern(): Promise<void> {
    if (this.#isNative || this.#translator) return
    this.#finding ??= (async () => {
      if ((await eraOfServer(this.#server)) === 'modern') this.#isNative = true
      else this.#translator = new LegacyServer(this.#server, this.#receivers.observe)
    })().finally(() => {
      this.#finding = null
    })
    await this.#finding
  }

  /** Only a server that refuses `initialize` is asked for its revision. */
  async #initialize(outgoing: Outgoing): Promise<Buffer> {
    if (this.#translator) return this.#translator.call(outgoing)
    const refused = await this.#server.call(outgoing).catch((error: unknown) => {
      if (error instanceof Refused) return error
      throw error
    })
    if (!(refused instanceof Refused)) {
      const answer = readUpstream(refused)
      if (answer.kind !== 'response' || answer.error === null) return refused
    }
    if ((await eraOfServer(this.#server)) === 'modern') {
      const translator = new ModernServer(this.#server, this.#receivers.tell)
      this.#translator = translator
      return translator.call(outgoing)
    }
    if (refused instanceof Refused) throw refused
    return refused
  }
}

/** Milliseconds after which a server that does not answer is one of 2025-11-25. */
const SILENT_MS = 10_000
/** Errors that only servers of 2026-07-28 know. */
const MODERN_ERRORS = new Set<unknown>([-32_020, -32_021, -32_022])

let probes = 0

/** Finds out the revision of a server. Rejects where it cannot be reached. */
async function eraOfServer(server: Connection): Promise<Era> {
  const id = `remit-probe-${++probes}`
  const params = {
    _meta: { [META_KEYS.protocolVersion]: MODERN, [META_KEYS.clientCapabilities]: {} },
  }
  const silent = AbortSignal.timeout(SILENT_MS)
  try {
    const bytes = await server.call({
      request: requestOf(id, 'server/discover', params),
      signal: silent,
      mirrored: {},
      message: () => undefined,
      answered: () => undefined,
    })
    return eraIn(bytes)
  } catch (error) {
    if (error instanceof Refused) return eraIn(error.body)
    if (silent.aborted) return 'legacy'
    throw error
  }
}

/** The era that an answer to `server/discover` shows. Pure. */
function eraIn(answer: Buffer): Era {
  const value = parseJson(answer.toString('utf8'))
  const { result, error } = isMembers(value) ? value : {}
  if (isMembers(result)) return isModern(result['supportedVersions']) ? 'modern' : 'legacy'
  if (!isMembers(error) || !MODERN_ERRORS.has(error['code'])) return 'legacy'
  const { data } = error
  const supported = isMembers(data) ? data['supported'] : undefined
  return supported === undefined || isModern(supported) ? 'modern' : 'legacy'
}

const isModern = (versions: unknown): boolean =>
  Array.isArray(versions) &&
  versions.some((version) => typeof version === 'string' && version >= MODERN)

/** Revisions before 2026-07-28; a client that knows none of them gets the newest. */
const LEGACY_VERSIONS = new Set(['2024-11-05', '2025-03-26', '2025-06-18', LEGACY])
/** Rounds in which a server may ask for input. */
const MAX_ROUNDS = 32

/**
 * A server of 2026-07-28 for one session of a client of 2025-11-25. What the session knows goes into the
 * envelope of each request; what the server asks goes to the client as a request, and the call is repeated
 * with the answers.
 */
class ModernServer implements Connection {
  readonly #server: Connection
  /** Receives what belongs to no request of the client. */
  readonly #tell: (message: Message) => void
  readonly #asking = new Map<string, (response: Response) => void>()
  readonly #ended = new AbortController()
  readonly #uris = new Set<string>()
  #listening: { readonly id: string; readonly stop: AbortController } | null = null
  /** The newest ids of requests that were repeated. */
  readonly #repeated = new Map<string, string>()
  #client: Members = {}
  #level: unknown

  constructor(server: Connection, tell: (message: Message) => void) {
    this.#server = server
    this.#tell = tell
  }

  async call(outgoing: Outgoing): Promise<Buffer> {
    const { request } = outgoing
    outgoing.answered(200)
    const own = this.#answer(request)
    if (own) return resultOf(request.id, own).bytes
    const { result, error } = await (request.method === 'initialize'
      ? this.#initialize(outgoing)
      : this.#rounds(outgoing).finally(() => this.#repeated.delete(keyOf(request.id))))
    const { id, method } = request
    return result
      ? resultOf(id, legacyResult(method, result)).bytes
      : failureOf(id, legacyError(method, error ?? {})).bytes
  }

  async send(message: Notification | Response): Promise<void> {
    if (message.kind === 'response') {
      this.#asking.get(keyOf(message.id))?.(message)
      return
    }
    if (message.method === 'notifications/initialized') this.#listen()
    const cancelled = cancelledBy(message)
    // On HTTP, the end of the request cancels it.
    if (isId(cancelled)) await this.#cancel(this.#repeated.get(keyOf(cancelled)) ?? cancelled)
  }

  listen(signal: AbortSignal): Promise<OpenStream> {
    const ended = new Promise<void>((resolve) => {
      for (const one of [signal, this.#ended.signal])
        one.addEventListener('abort', () => resolve(), { once: true })
    })
    return Promise.resolve({ ended })
  }

  async stop(): Promise<void> {
    this.#ended.abort()
    this.#listening?.stop.abort()
    await this.#server.stop()
  }

  /** Takes a message of the server that its pipe has for no request. */
  receive(message: Message): void {
    if (message.kind === 'notification') this.#pass(message, this.#tell)
  }

  /** Results of requests that only the session of 2025-11-25 has. */
  #answer({ method, params }: Request): Members | null {
    const { uri, level } = params
    switch (method) {
      case 'ping':
        return {}
      case 'logging/setLevel':
        this.#level = level
        return {}
      case 'resources/subscribe':
        this.#uris.add(String(uri))
        this.#listen()
        return {}
      case 'resources/unsubscribe':
        this.#uris.delete(String(uri))
        this.#listen()
        return {}
      default:
        return null
    }
  }

  async #initialize(outgoing: Outgoing): Promise<Response> {
    const { id, params } = outgoing.request
    this.#client = params
    const response = await this.#send(outgoing, requestOf(id, 'server/discover', {}))
    if (!response.result) return response
    const { capabilities, instructions, _meta: meta } = response.result
    const { protocolVersion: asked } = params
    return resultOf(id, {
      protocolVersion: LEGACY_VERSIONS.has(String(asked)) ? asked : LEGACY,
      capabilities: sharedCapabilities(capabilities),
      serverInfo: (isMembers(meta) && meta[META_KEYS.serverInfo]) || {
        name: 'server',
        version: '',
      },
      ...(instructions !== undefined && { instructions }),
    })
  }

  /** Repeats a request until the server has asked all that it needs. */
  async #rounds(outgoing: Outgoing): Promise<Response> {
    let { request } = outgoing
    const key = keyOf(request.id)
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const response = await this.#send(outgoing, request)
      const { result } = response
      if (result?.['resultType'] !== 'input_required') return response
      const { inputRequests = {}, requestState } = result
      const inputResponses: Record<string, Members> = {}
      for (const [name, ask] of Object.entries(inputRequests as Members)) {
        const answer = await this.#ask(outgoing, ask)
        if (!answer.result) return answer
        inputResponses[name] = answer.result
      }
      const state = requestState === undefined ? {} : { requestState }
      const params = { ...outgoing.request.params, inputResponses, ...state }
      request = requestOf(`remit-${randomUUID()}`, request.method, params)
      this.#repeated.set(key, String(request.id))
    }
    throw new Error(`The server asked for input more than ${MAX_ROUNDS} times.`)
  }

  async #send(outgoing: Outgoing, { id, method, params }: Request): Promise<Response> {
    const { signal, mirrored, message } = outgoing
    const bytes = await this.#server.call({
      request: requestOf(id, method, withEnvelope(params, this.#envelope())),
      signal,
      mirrored,
      message: (one) => {
        if (one.kind === 'notification') this.#pass(one, message)
      },
      answered: () => undefined,
    })
    return responseIn(bytes)
  }

  /** Asks the client, and waits for its response. */
  #ask({ signal, message }: Outgoing, ask: unknown): Promise<Response> {
    const { method, params = {} } = isMembers(ask) ? ask : {}
    if (typeof method !== 'string' || !isMembers(params))
      throw new Error('The server asked for input that is no request.')
    const id = `remit-ask-${randomUUID()}`
    const key = keyOf(id)
    return new Promise<Response>((resolve, reject) => {
      const cancel = () => reject(new Error('The request was cancelled.'))
      signal.addEventListener('abort', cancel, { once: true })
      this.#asking.set(key, (response) => {
        signal.removeEventListener('abort', cancel)
        resolve(response)
      })
      message(requestOf(id, method, legacyAsk(params, id)))
    }).finally(() => this.#asking.delete(key))
  }

  #pass(message: Notification, to: (message: Message) => void): void {
    const { method, params } = message
    if (method === 'notifications/subscriptions/acknowledged') return
    const { [SUBSCRIPTION_ID]: _, [META_KEYS.serverInfo]: __, ...meta } = metaOf(params)
    const { _meta: ___, ...rest } = params
    to(notificationOf(method, Object.keys(meta).length > 0 ? { ...rest, _meta: meta } : rest))
  }

  /** Listens for changes of lists, and of the resources to which the client has subscribed. */
  #listen(): void {
    if (this.#listening) {
      this.#listening.stop.abort()
      void this.#cancel(this.#listening.id).catch(() => undefined)
    }
    const stop = new AbortController()
    const uris = [...this.#uris]
    const notifications = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      ...(uris.length > 0 && { resourceSubscriptions: uris }),
    }
    const id = `remit-${randomUUID()}`
    this.#listening = { id, stop }
    const params = withEnvelope({ notifications }, this.#envelope())
    // A server that has no such stream changes nothing.
    void this.#server
      .call({
        request: requestOf(id, 'subscriptions/listen', params),
        signal: stop.signal,
        mirrored: {},
        message: (message) => this.receive(message),
        answered: () => undefined,
      })
      .catch(() => undefined)
  }

  #cancel(requestId: Id): Promise<void> {
    const params = withEnvelope({ requestId }, this.#envelope())
    return this.#server.send(notificationOf('notifications/cancelled', params))
  }

  #envelope(): Members {
    const { capabilities, clientInfo } = this.#client
    return {
      [META_KEYS.protocolVersion]: MODERN,
      [META_KEYS.clientCapabilities]: sharedCapabilities(capabilities),
      ...(clientInfo !== undefined && { [META_KEYS.clientInfo]: clientInfo }),
      ...(this.#level !== undefined && { [META_KEYS.logLevel]: this.#level }),
    }
  }
}
