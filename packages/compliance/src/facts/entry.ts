import type { Actor } from '@remit/contract'
import type { DecisionFacts } from './decision.ts'

/** What the fold is given of an entry: what its hash covers, and no copies for searching. */
export interface FactRow {
  readonly seq: number
  /** RFC 3339, UTC, milliseconds. */
  readonly recorded_at: string
  readonly kind: string
  /** Canonical JSON; null once erased. */
  readonly payload: string | null
}

/** An entry as meters and the state read it. Its payload is parsed when something of it is asked for. */
export interface FactEntry {
  readonly seq: number
  /** Milliseconds. */
  readonly time: number
  readonly kind: string
  /** The payload is gone: the rest is null or empty then, as it is where the payload is none. */
  readonly erased: boolean
  readonly actor: Actor | null
  readonly agent_id: string | null
  readonly action: string | null
  readonly resource: string | null
  readonly decision: string | null
  readonly reason: string | null
  /** `{}` when erased. Of a decision this parses everything; `decided` has what metrics need. */
  readonly data: Readonly<Record<string, unknown>>
  /** Of `authorization.decided`: what was recorded about it; null of other kinds and when erased. */
  readonly decided: DecisionFacts | null
}
