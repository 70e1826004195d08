import { canonical, digestOf } from '@remit/contract/fit'
import type { Json } from '@remit/contract/fit'

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
