import { canonical, digestOf } from '@remit/contract/fit'
import type { Json } from '@remit/contract/fit'

const hashOf = (value: Json): Promise<string> => digestOf(canonical(value))

/** One step of a run: the call, and what Remit is asked about it. */
export interface Step {
  readonly agent: string | null
  readonly run: string
  readonly call: string
  /** Hash of the request: a changed argument is another question. */
  readonly request: string
}

export const requestHash = (request: Json): Promise<string> => hashOf(request)

/**
 * The `Idempotency-Key` of a step. Remit keeps `needs_approval` too, so the question after an approval
 * has another key.
 */
export const decisionKey = ({ agent, run, call, request }: Step, approval: string | null) =>
  hashOf({ agent, approval, call, request, run })

/** The `Idempotency-Key` of the entry that ends a decision. */
export const settlementKey = (body: Json): Promise<string> => hashOf({ settlement: body })
