import type { Members } from '../rpc/members.ts'
import type { Request, Response } from '../rpc/message.ts'
import type { Outgoing } from '../upstream/connection.ts'

/** The end of a call, or what the server asks before. */
export type Step = { readonly response: Response } | { readonly asks: readonly Request[] }

/** A call that a server of 2025-11-25 carries out, while its client comes and goes with answers. */
export class HeldCall {
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
export function callOf({ method, params }: Request): string {
  const { _meta: _, requestState: __, inputResponses: ___, ...call }: Members = params
  return JSON.stringify([method, call])
}
