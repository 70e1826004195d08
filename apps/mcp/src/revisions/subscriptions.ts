import { isMembers } from '../rpc/members.ts'
import type { Members } from '../rpc/members.ts'
import type { Notification, Response } from '../rpc/message.ts'
import { metaOf, SUBSCRIPTION_ID } from '../rpc/protocol.ts'
import type { Outgoing } from '../upstream/connection.ts'
import { notificationOf, resultOf } from './messages.ts'

const UPDATED = 'notifications/resources/updated'
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
export class Subscriptions {
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
