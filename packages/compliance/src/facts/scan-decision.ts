import type { DecisionFacts } from './decision.ts'

/** A decision with the members of its payload beside those of its data. */
export interface ScannedDecision extends DecisionFacts {
  readonly agent_id: string | null
  readonly action: string | null
  readonly resource: string | null
  readonly decision: string | null
  readonly reason: string | null
}

/** Reads a decision without parsing it; null where the text is not laid out as the writer does. */
export function scanDecision(_text: string): ScannedDecision | null {
  return null
}
