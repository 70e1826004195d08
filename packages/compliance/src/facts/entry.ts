import type { Actor } from '@remit/contract'
import type { DecisionFacts } from './outcome.ts'

/** The part of an entry that the fold needs: the hashed fields, without the search columns. */
export interface FactRow {
  readonly seq: number
  /** RFC 3339, UTC, milliseconds. */
  readonly recorded_at: string
  readonly kind: string
  /** Canonical JSON; null once erased. */
  readonly payload: string | null
}

/** An entry as meters and the state read it. The payload is parsed on first access. */
export interface FactEntry {
  readonly seq: number
  /** Milliseconds. */
  readonly time: number
  readonly kind: string
  /** The payload was erased; the other fields are then null or empty. */
  readonly erased: boolean
  readonly actor: Actor | null
  readonly agent_id: string | null
  readonly action: string | null
  readonly resource: string | null
  readonly decision: string | null
  readonly reason: string | null
  /**
   * `{}` when erased. For a decision this parses the whole payload; `decided` has the fields that
   * metrics need.
   */
  readonly data: Readonly<Record<string, unknown>>
  /**
   * The recorded decision of an `authorization.decided` entry; null for other kinds and when
   * erased.
   */
  readonly decided: DecisionFacts | null
}
