import type { Slot } from './slots.ts'
import type { Snapshot } from './snapshots.ts'

/** What a batch learned: facts from outside, and stages that could not answer. */
export class BatchMemory {
  /** The rules of the last attempt; they may lack a stage that could not answer. */
  snapshot: Snapshot | null = null
  /** Version of the rules for which the outside was asked. */
  version: number | null = null
  readonly outside = new Map<Slot, unknown>()
  readonly unavailable = new Set<Slot>()

  static of(memo: Map<string, unknown>): BatchMemory {
    let memory = memo.get('batch') as BatchMemory | undefined
    if (!memory) memo.set('batch', (memory = new BatchMemory()))
    return memory
  }
}
