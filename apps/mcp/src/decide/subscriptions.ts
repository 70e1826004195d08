import { AddressError, normalAddress, sentAddress } from '@remit/contract/address'
import type { Verdict } from '@remit/sdk'
import { CODES } from '../rpc/answers.ts'
import { isMembers, foldedTwice } from '../rpc/members.ts'
import { NotAMessage } from '../rpc/message.ts'
import type { Request } from '../rpc/message.ts'
import { eraOf } from '../rpc/protocol.ts'
import type { Settings } from './governed.ts'
import { forwardedBytes, questionOf, spliced } from './question.ts'
import type { Question } from './question.ts'
import { removeOldest } from './running.ts'
import { denied, stillPending } from './verdicts.ts'

const MAX_KEPT = 10_000

/** The resources of whose changes a client may hear: each subscription is decided as reading is. */
export class Subscriptions {
  readonly #addresses = new Set<string>()

  add(uri: string): void {
    const address = addressOf(uri)
    if (address !== null) this.#addresses.add(address)
    removeOldest(this.#addresses, MAX_KEPT)
  }

  has(uri: unknown): boolean {
    const address = addressOf(uri)
    return address !== null && this.#addresses.has(address)
  }

  /**
   * The request for a stream of notifications as the server gets it, with the addresses that were decided; a text is
   * the answer to one with a subscription that is not allowed. Throws `NotAMessage`.
   */
  async listening(
    request: Request,
    { dropMeta, deny }: Settings,
    decide: (question: Question) => Promise<Verdict>,
  ): Promise<Buffer | string> {
    const subscriptions = subscriptionsIn(request, dropMeta)
    for (const question of subscriptions) {
      const { method, name } = question
      const verdict = await decide(question)
      const message = `${name}: ${verdict.kind === 'allow' ? '' : verdict.message}`
      const refused = { id: request.id, era: eraOf(request), method }
      if (verdict.kind === 'deny') return denied(refused, { ...verdict, message }, deny)
      if (verdict.kind === 'pending') return stillPending(refused, { ...verdict, message })
      this.add(name)
    }
    const uris = subscriptions.map(({ name }) => sentAddress(name))
    if (subscriptions.every(({ name }, index) => name === uris[index])) return request.bytes
    return spliced(request.bytes, ['params', 'notifications', 'resourceSubscriptions'], uris)
  }
}

/** The request that ends a subscription, with the address that began it. Throws `NotAMessage`. */
export function unsubscribingBytes({ id, params: { uri }, bytes }: Request): Buffer {
  if (addressOf(uri) === null)
    throw new NotAMessage(CODES.invalidParams, 'params.uri: must be an address.', id)
  return forwardedBytes({ type: 'resource', name: String(uri), bytes })
}

function subscriptionsIn(request: Request, dropped: readonly string[]): Question[] {
  const { id, params } = request
  const { notifications = {}, _meta: meta = {} } = params
  const refused = (place: string, what: string) =>
    new NotAMessage(CODES.invalidParams, `params.${place}: must be ${what}.`, id)
  const twice = foldedTwice(params)
  if (twice !== null)
    throw refused(twice, 'a name that differs from its neighbors in more than case')
  if (!isMembers(notifications)) throw refused('notifications', 'an object')
  const { resourceSubscriptions: uris = [] } = notifications
  if (!Array.isArray(uris)) throw refused('notifications.resourceSubscriptions', 'a list')
  return uris.flatMap((uri: unknown) => {
    const subscribing = { ...request, method: 'resources/subscribe', params: { uri, _meta: meta } }
    const question = questionOf(subscribing, dropped)
    return question ? [question] : []
  })
}

/** The address as rules see it; null if it is none. */
function addressOf(uri: unknown): string | null {
  try {
    return typeof uri === 'string' ? normalAddress(uri) : null
  } catch (error) {
    if (error instanceof AddressError) return null
    throw error
  }
}
