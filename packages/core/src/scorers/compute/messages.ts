import type { FieldName, ScoreOutcome } from '../scorer.ts'
import { Unscorable } from '../scorer.ts'

/** A part of a batch for a worker. JSON text crosses over faster than objects do. */
export interface Task {
  readonly scorer: string
  /** JSON of the params as the schema of the scorer gave them. */
  readonly params: string
  /** JSON of each result. */
  readonly results: readonly string[]
}

/** What a worker says: that it has loaded; outcomes as they come, the last ones with `done`; or why there are none. */
export type Report =
  | { readonly ready: true }
  | { readonly outcomes: readonly SentOutcome[]; readonly done: boolean }
  | { readonly unusable: { readonly param: string; readonly message: string } }
  | { readonly defect: string }

/** An error's class does not cross over. */
export type SentOutcome =
  | ScoreOutcome
  | {
      readonly unscorable: {
        readonly code: string
        readonly reason: string
        readonly field: FieldName | undefined
      }
    }

export function toSend(outcome: ScoreOutcome | Unscorable): SentOutcome {
  if (!(outcome instanceof Unscorable)) return outcome
  const { code, message: reason, field } = outcome
  return { unscorable: { code, reason, field } }
}

export function received(sent: SentOutcome): ScoreOutcome | Unscorable {
  if (!('unscorable' in sent)) return sent
  const { code, reason, field } = sent.unscorable
  return new Unscorable(code, reason, field)
}
