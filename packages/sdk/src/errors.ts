import type { Client, RemitError } from '@remit/contract/client'

/** A budget on the path of a call, as in the API. */
export type BudgetState = NonNullable<Awaited<ReturnType<Client['authorize']>>['budgets']>[number]

/** A wrapped tool was not run: Remit denied the call, or could not be asked. */
export class RemitDenied extends Error {
  readonly verdict: Deny
  constructor(verdict: Deny) {
    super(toolMessage(verdict))
    this.name = 'RemitDenied'
    this.verdict = verdict
  }
}

/** A wrapped tool was not run: the call waits for an approval. */
export class RemitPending extends Error {
  readonly verdict: Pending
  constructor(verdict: Pending) {
    super(toolMessage(verdict))
    this.name = 'RemitPending'
    this.verdict = verdict
  }
}

/**
 * Thrown by a tool that had no effect. Its hold is released; after any other error the hold stays,
 * because money may have left before the error.
 */
export class NotExecuted extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'NotExecuted'
  }
}

/** An input that cannot be written as JSON. `path` is a JSON Pointer. */
export class Unmappable extends Error {
  constructor(path: string, problem: string) {
    super(`${path === '' ? 'the input' : path} ${problem}`)
    this.name = 'Unmappable'
  }
}

/** The call may run, once. */
export interface Allow {
  readonly kind: 'allow'
  readonly decisionId: string
  readonly callId: string
  /** As Remit was asked. */
  readonly action: string
  readonly reason: string
  /** The approval that the allow used; null where none was needed. */
  readonly approvalId: string | null
  /** The budgets on the path of the call, as in the API; absent without any. */
  readonly budgets?: readonly BudgetState[]
}

/** Reasons of the gate itself, in addition to the reason codes of `POST /v1/authorize`. */
export type GateReason =
  /** An earlier request for the same call was allowed; it may have run. */
  | 'already_decided'
  | 'approval_cancelled'
  | 'approval_expired'
  | 'approval_rejected'
  | 'approval_revoked'
  /** Remit refused the request: a wrong key, a missing scope, an unusable name. */
  | 'remit_refused'
  /** Remit gave no usable answer in time. */
  | 'remit_unavailable'
  /** The input changed after it was approved. */
  | 'input_changed'
  /** The input cannot be written as JSON, or the mapping failed. */
  | 'unmappable'

/** The call must not run. */
export interface Deny {
  readonly kind: 'deny'
  readonly reason: string
  /** For the model. */
  readonly message: string
  readonly callId: string
  /** Null where Remit did not decide. */
  readonly decisionId: string | null
  /** The budgets on the path of the call, as in the API; absent without any. */
  readonly budgets?: readonly BudgetState[]
  /** Of a denial by a budget or spend limit: when it can pass, in RFC 3339; null for never, absent if unknown. */
  readonly retryAt?: string | null
}

/** The call must not run yet: a person has to approve it. */
export interface Pending {
  readonly kind: 'pending'
  readonly approvalId: string
  /** RFC 3339; null where the request does not expire. */
  readonly until: string | null
  /** For the model. */
  readonly message: string
  readonly callId: string
  readonly decisionId: string
}

export type Verdict = Allow | Deny | Pending

export const deny = (
  callId: string,
  reason: GateReason,
  message: string,
  decisionId: string | null = null,
): Deny => ({ kind: 'deny', reason, message, callId, decisionId })

/** Text for the model in the place of a tool's result. */
export const toolMessage = (verdict: Deny | Pending): string =>
  verdict.kind === 'deny'
    ? `Not executed: denied by Remit (${verdict.reason}). ${verdict.message}`
    : `Not executed: waiting for approval ${verdict.approvalId}. ${verdict.message}`

/** Remit refused a request, or gave no usable answer: then asking again may help. */
export const isRefusal = ({ status }: RemitError): boolean =>
  status >= 400 && status < 500 && status !== 408 && status !== 429
