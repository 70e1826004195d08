import type { Failure } from '@remit/core/base'
import type { VerificationTrust } from './trust.ts'
import type { ReplayTask } from './replay.ts'
import type { EvidenceRequest, VerifyOptions } from './jobs.ts'
import type { FactsQuery } from '../facts/index.ts'

/** One job, as sent to a thread. */
export type Task = { readonly orgId: string; readonly trust: VerificationTrust } & (
  | { readonly kind: 'verify'; readonly options: VerifyOptions }
  | { readonly kind: 'report'; readonly question: FactsQuery }
  | { readonly kind: 'evidence'; readonly query: EvidenceRequest }
  | { readonly kind: 'replay'; readonly replay: ReplayTask }
  | { readonly kind: 'tally'; readonly fromSeq: number }
)

/** A message of a thread: loaded, progress, result or error. */
export type JobMessage =
  | { readonly ready: true }
  | { readonly done: number; readonly total: number }
  | { readonly result: unknown }
  | { readonly refused: Pick<Failure, 'code' | 'message' | 'extras'> }
  | { readonly failed: SentError }

/** An error in transfer: its class is lost, and its members are sent by name. */
export interface SentError {
  readonly message: string
  readonly stack: string | undefined
  readonly code: string | undefined
}

export function toSend(error: unknown): SentError {
  if (!(error instanceof Error))
    return { message: String(error), stack: undefined, code: undefined }
  const { code } = error as { code?: unknown }
  return {
    message: error.message,
    stack: error.stack,
    code: typeof code === 'string' ? code : undefined,
  }
}

export function received({ message, stack, code }: SentError): Error {
  const error = new Error(message)
  if (stack !== undefined) error.stack = stack
  return code === undefined ? error : Object.assign(error, { code })
}
