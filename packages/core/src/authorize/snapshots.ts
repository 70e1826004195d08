import { LRUCache } from 'lru-cache'
import { MAX_CACHED_ORGS } from '../base/page.ts'
import type { AnyDatabase } from '../db/portable.ts'
import type { Slot } from './slots.ts'
import type { Stage } from './stage.ts'

/** The compiled rules of an organization at one version of its configuration. Immutable. */
export interface Snapshot {
  readonly version: number
  readonly slots: ReadonlyMap<Slot, unknown>
}

/** Snapshots by organization. They need no time limit: `config_version` invalidates them. */
export class Snapshots {
  readonly #byOrg = new LRUCache<string, Snapshot>({ max: MAX_CACHED_ORGS })

  peek(orgId: string): Snapshot | undefined {
    return this.#byOrg.get(orgId)
  }

  /**
   * Returns the snapshot at `version`, loaded inside the transaction that holds the lock of the
   * organization.
   */
  async at(
    orgId: string,
    version: number,
    stages: ReadonlyMap<Slot, Stage>,
    tx: AnyDatabase,
    onFailure: (slot: Slot, error: unknown) => never,
  ): Promise<Snapshot> {
    const known = this.#byOrg.get(orgId)
    if (known?.version === version) return known
    const slots = new Map<Slot, unknown>()
    for (const [slot, stage] of stages) {
      try {
        slots.set(slot, await stage.load(orgId, tx))
      } catch (error) {
        onFailure(slot, error)
      }
    }
    const snapshot = { version, slots }
    this.#byOrg.set(orgId, snapshot)
    return snapshot
  }
}

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
