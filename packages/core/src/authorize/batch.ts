import type { Slot } from './slots.ts'
import type { Snapshot } from './snapshots.ts'

/** State that a batch keeps across its attempts: external facts and failed stages. */
export class BatchMemory {
  /** The rules of the last attempt, without the stages that failed. */
  snapshot: Snapshot | null = null
  /** Version of the rules for which external facts were gathered. */
  version: number | null = null
  readonly outside = new Map<Slot, unknown>()
  readonly unavailable = new Set<Slot>()

  static of(memo: Map<string, unknown>): BatchMemory {
    let memory = memo.get('batch') as BatchMemory | undefined
    if (!memory) memo.set('batch', (memory = new BatchMemory()))
    return memory
  }
}
