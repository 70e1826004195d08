import { FLIPS } from '@remit/contract'
import type { Flip, FlipCounts } from '@remit/contract'
import { isoTime } from '@remit/core/base'
import type { RecordedDecision } from '@remit/core/decision/recorded'
import type { ReplayCounts } from '../jobs/replay.ts'
import type { ReevaluatedDecision } from './reevaluate.ts'

const MAX_RULES = 100

const none = (): FlipCounts =>
  Object.fromEntries(FLIPS.map((kind) => [kind, 0])) as unknown as FlipCounts

const total = (counts: FlipCounts): number => FLIPS.reduce((sum, kind) => sum + counts[kind], 0)

/** Counts decisions in order, and keeps the first `limit` flips. */
export class ReplayTally {
  readonly #limit: number
  readonly #unchanged = { judged: 0, denied_elsewhere: 0, not_in_plan: 0 }
  readonly #notReplayable = {
    erased: 0,
    policies_failed: 0,
    agent_unknown: 0,
    reason_unknown: 0,
    malformed: 0,
  }
  readonly #flipped = none()
  readonly #byRule = new Map<string | null, FlipCounts>()
  readonly #flips: Flip[] = []
  #decisions = 0
  #firstSeq: number | null = null
  #lastSeq: number | null = null

  constructor(limit: number) {
    this.#limit = limit
  }

  get decisions(): number {
    return this.#decisions
  }

  judged(seq: number, recorded: RecordedDecision, judged: ReevaluatedDecision): void {
    this.#see(seq)
    if (judged.is === 'unchanged') this.#unchanged[judged.why]++
    else if (judged.is === 'not_replayable') this.#notReplayable[judged.why]++
    else this.#flip(seq, recorded, judged)
  }

  unreadable(seq: number, why: 'erased' | 'malformed'): void {
    this.#see(seq)
    this.#notReplayable[why]++
  }

  counts(): ReplayCounts {
    const rules = [...this.#byRule]
      .map(([policy, counts]) => ({ policy, ...counts }))
      .toSorted((a, b) => total(b) - total(a) || order(a.policy, b.policy))
    return {
      first_seq: this.#firstSeq,
      last_seq: this.#lastSeq,
      decisions: this.#decisions,
      unchanged: this.#unchanged,
      flipped: this.#flipped,
      not_replayable: this.#notReplayable,
      rules: rules.slice(0, MAX_RULES),
      rules_omitted: Math.max(0, rules.length - MAX_RULES),
      flips: this.#flips,
      flips_omitted: total(this.#flipped) - this.#flips.length,
    }
  }

  #see(seq: number): void {
    this.#decisions++
    this.#firstSeq ??= seq
    this.#lastSeq = seq
  }

  #flip(
    seq: number,
    { ask }: RecordedDecision,
    judged: Extract<ReevaluatedDecision, { is: 'flip' }>,
  ): void {
    const { kind, cause, was, wouldBe } = judged
    const ofRule = this.#byRule.get(cause) ?? none()
    this.#byRule.set(cause, ofRule)
    ofRule[kind]++
    this.#flipped[kind]++
    if (this.#flips.length >= this.#limit) return
    this.#flips.push({
      seq,
      decision_id: ask.decisionId,
      decided_at: isoTime(ask.now),
      agent_id: ask.request.agent_id,
      action: ask.request.action,
      resource: ask.resource,
      kind,
      cause,
      was,
      would_be: wouldBe,
    })
  }
}

/** Sorts the default effect first, then by code units. */
const order = (a: string | null, b: string | null): number =>
  (a ?? '') < (b ?? '') ? -1 : (a ?? '') > (b ?? '') ? 1 : 0
