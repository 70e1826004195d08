import type { Entry, SinkFormat } from '@remit/contract'
import type { Outbound, OutboundResponse } from '@remit/core/net'
import type { WholeTarget } from '../secrets.ts'

/** A JSON document about one entry. */
export type Document = Readonly<Record<string, unknown>>

export interface SinkRecord {
  readonly entry: Entry
  readonly document: Document
}

/** Consecutive entries of one ledger for a receiver. */
export interface Batch {
  readonly orgId: string
  readonly origin: string
  /** A signed checkpoint of at least these entries. */
  readonly note: string
  readonly format: SinkFormat
  /** The first and the last entry, including those that are left out. */
  readonly from: number
  readonly to: number
  /** Time of the first entry. */
  readonly at: string
  /** In order; empty if all entries are left out. */
  readonly records: readonly SinkRecord[]
}

/**
 * Sends a batch and resolves when the receiver has accepted all of it. Rejects with `SinkFailure` or
 * `OutboundError`.
 */
export type Send = (outbound: Outbound, target: WholeTarget, batch: Batch) => Promise<void>

/** The receiver did not accept a batch. `code` is stable; nothing that it sent is in it. */
export class SinkFailure extends Error {
  readonly code: string
  readonly status: number | null

  constructor(code: string, status: number | null) {
    super(`the receiver did not accept the batch: ${code}`)
    this.name = 'SinkFailure'
    this.code = code
    this.status = status
  }
}

/** Throws unless the status is a success. */
export function requireSuccess({ status }: OutboundResponse): void {
  if (status < 200 || status >= 300) throw new SinkFailure('http_status', status)
}

/** A line of JSON per record. */
export const ndjson = ({ records }: Batch): string =>
  records.map(({ document }) => `${JSON.stringify(document)}\n`).join('')

/** An entry that is not an allow. */
export const isRefusal = ({ kind, decision }: Entry): boolean =>
  decision === 'deny' || kind === 'enforcement.gap' || kind.endsWith('.refused')
