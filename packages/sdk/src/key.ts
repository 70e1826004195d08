import { canonical, digestOf, base64url } from '@remit/contract/fit'
import type { Json } from '@remit/contract/fit'

/** 128 random bits; unlike `crypto.randomUUID`, also outside secure contexts. */
export const randomId = (): string => base64url(crypto.getRandomValues(new Uint8Array(16)))

let prefix: string | undefined
let made = 0

/** An id that no other process has; cheaper than a random one. */
export const nextId = (): string => `${(prefix ??= randomId())}.${made++}`

type Digest = string | Promise<string>

const hashOf = (value: Json): Digest => digestOf(canonical(value))

/** One step of a run: the call, and what Remit is asked about it. */
export interface Step {
  readonly agent: string | null
  readonly run: string
  readonly call: string
  /** Hash of the request: a changed argument is another question. */
  readonly request: string
}

/**
 * The `Idempotency-Key` of a step. Remit keeps `needs_approval` too, so the question after an approval
 * has another key.
 */
export const decisionKey = ({ agent, run, call, request }: Step, approval: string | null): Digest =>
  hashOf({ agent, approval, call, request, run })

/** The `Idempotency-Key` of the entry that ends a decision. */
export const settlementKey = (body: Json): Digest => hashOf({ settlement: body })
