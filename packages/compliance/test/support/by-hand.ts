import { canonicalJson } from '@remit/contract/json'
import type { FactRow } from '../../src/facts/index.ts'

/** An entry as a test says it; what is left out is null, or nothing. */
export interface EntryInput {
  /** `2026-01-31T12:00:00.000Z`, or shorter: the rest is zero. */
  readonly at: string
  readonly kind: string
  readonly actor?: { readonly type: string; readonly id: string }
  readonly agent_id?: string
  readonly action?: string
  readonly resource?: string
  readonly decision?: string
  readonly reason?: string
  readonly data?: Readonly<Record<string, unknown>>
  readonly erased?: boolean
}

export const SYSTEM = { type: 'system', id: 'remit' } as const

/** Milliseconds of a time as tests write it. */
export const ms = (at: string): number => Date.parse(fullTime(at))

/** The whole of a time whose end may be left out. */
export const fullTime = (at: string): string => at + '2026-01-01T00:00:00.000Z'.slice(at.length)

const payloadOf = ({ at: _at, kind: _kind, erased: _erased, ...said }: EntryInput): string =>
  canonicalJson({
    action: said.action ?? null,
    actor: said.actor ?? SYSTEM,
    agent_id: said.agent_id ?? null,
    data: said.data ?? {},
    decision: said.decision ?? null,
    reason: said.reason ?? null,
    resource: said.resource ?? null,
  })

/** Rows as the ledger has them: in the order of their time, and of saying at the same time. */
export const rowsOf = (said: readonly EntryInput[], firstSeq = 0): FactRow[] =>
  said
    .toSorted((a, b) => ms(a.at) - ms(b.at))
    .map((one, i) => ({
      seq: firstSeq + i,
      recorded_at: fullTime(one.at),
      kind: one.kind,
      payload: one.erased ? null : payloadOf(one),
    }))
