import { hash } from 'node:crypto'
import type { Endpoint } from '@remit/contract'
import { fail } from '../base/errors.ts'
import type { Claim, StoredAnswer } from '../idempotency/claim.ts'
import type { Caller, Principal } from '../caller/caller.ts'

const KEY = /^[ -~]{1,255}$/

/**
 * The claim of a request's `Idempotency-Key`, or null without one. `encode` renders its reply, for
 * the key of the claim. The claim names the principal: one principal's key neither answers nor blocks
 * another's request.
 */
export function claimOf(
  endpoint: Endpoint,
  { principal }: Caller,
  request: { key: string | undefined; url: string; bytes: Uint8Array | undefined },
  encode: (reply: unknown, key: string) => StoredAnswer,
): Claim | null {
  if (request.key === undefined || endpoint.method !== 'POST') return null
  if (!KEY.test(request.key)) {
    throw fail(
      'invalid_idempotency_key',
      'An Idempotency-Key has 1 to 255 printable ASCII characters',
    )
  }
  const body = request.bytes ? hash('sha256', request.bytes, 'hex') : ''
  const { pathname, search } = new URL(request.url)
  const key = `${nameOf(principal)}\n${request.key}`
  return {
    key,
    requestHash: hash('sha256', `${endpoint.method} ${pathname}${search}\n${body}`, 'hex'),
    encode: (reply) => encode(reply, key),
  }
}

/** Credentials are rotated, so a repeat may come with another credential of the same agent. */
const nameOf = (principal: Principal): string =>
  principal.type === 'credential' ? `agent:${principal.agentId}` : `key:${principal.id}`

/** The claims whose first request still runs in this process. */
export class RunningClaims {
  readonly #running = new Map<string, string>()

  /** Runs `work` unless a request with the same key is under way: then 409. */
  hold<T>(orgId: string, claim: Claim | null, work: () => Promise<T>): Promise<T> {
    return claim ? this.#hold(orgId, claim, work) : work()
  }

  async #hold<T>(orgId: string, claim: Claim, work: () => Promise<T>): Promise<T> {
    const name = `${orgId} ${claim.key}`
    const other = this.#running.get(name)
    if (other !== undefined)
      throw fail(other === claim.requestHash ? 'idempotency_in_progress' : 'idempotency_mismatch')
    this.#running.set(name, claim.requestHash)
    try {
      return await work()
    } finally {
      this.#running.delete(name)
    }
  }
}
