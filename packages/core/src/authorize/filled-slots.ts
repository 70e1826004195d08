import type { Transaction } from 'kysely'
import type { Logger } from 'pino'
import { isUnavailable } from '../db/failure.ts'
import { TryAgain } from '../ledger/write/work.ts'
import type { BatchTime } from '../computing/batch-time.ts'
import type { BatchMemory } from './batch.ts'
import type { Prepared } from './decide.ts'
import { judge } from './judge.ts'
import type { Judged, Ruled } from './judge.ts'
import type { Slot } from './slots.ts'
import { Snapshots } from './snapshots.ts'
import type { Snapshot } from './snapshots.ts'
import type { Ask, Overlay, Stage } from './stage.ts'

/** The transaction that stages are prepared in, and the version of the rules that it sees. */
export interface View {
  readonly orgId: string
  readonly tx: Transaction<never>
  readonly configVersion: number
  readonly time: BatchTime
}

/** Requests that are ready to be decided, and the stages' states for them. */
export interface Ready {
  /** The first of the requests: the others are for the next batch. */
  readonly judged: readonly Judged[]
  readonly prepared: ReadonlyMap<Slot, Prepared>
}

/** The stages in their slots, and what they know of each organization: all I/O before a decision. */
export class FilledSlots {
  readonly #snapshots = new Snapshots()
  readonly #log: Logger
  #stages: ReadonlyMap<Slot, Stage> = new Map()

  constructor(log: Logger) {
    this.#log = log
  }

  /** Fills the slots; once, at boot. */
  use(stages: ReadonlyMap<Slot, Stage>): void {
    this.#stages = stages
  }

  /** Lets stages ask outside before a transaction begins; the first batch of a version comes back for it. */
  async gather(
    orgId: string,
    asks: () => readonly Ask[],
    memory: BatchMemory,
    overlay?: Overlay,
  ): Promise<void> {
    const snapshot = memory.snapshot ?? this.#snapshots.peek(orgId)
    if (!snapshot || memory.version === snapshot.version) return
    memory.version = snapshot.version
    const asking = [...this.#stages].filter(([, stage]) => stage.gather)
    if (asking.length === 0) return
    const all = asks()
    for (const [slot, stage] of asking) {
      if (memory.unavailable.has(slot)) continue
      const own = overlaid(stage, snapshot.slots.get(slot), overlay)
      try {
        memory.outside.set(slot, await stage.gather?.(all, own))
      } catch (error) {
        this.#giveUp(memory, slot, error)
      }
    }
  }

  /**
   * Judges what there is time for, and every stage's state for that. A stage that fails is marked in `memory`, and `TryAgain` is thrown:
   * its transaction must end. An error that says that the database is away is thrown as it is.
   */
  async prepare(
    asks: readonly Ask[],
    view: View,
    memory: BatchMemory,
    overlay?: Overlay,
  ): Promise<Ready> {
    const giveUp = (slot: Slot, error: unknown): never => {
      if (isUnavailable(error)) throw error
      this.#giveUp(memory, slot, error)
      throw new TryAgain()
    }
    const live = new Map([...this.#stages].filter(([slot]) => !memory.unavailable.has(slot)))
    const snapshot = await this.#snapshot(view, live, giveUp)
    memory.snapshot = snapshot
    const gathers = [...live.values()].some((stage) => stage.gather)
    if (gathers && memory.version !== snapshot.version) throw new TryAgain()
    const stages = new Map<Slot, Ruled>()
    for (const [slot, stage] of this.#stages) {
      const available = live.has(slot)
      const own = available ? overlaid(stage, snapshot.slots.get(slot), overlay) : null
      stages.set(slot, { stage, snapshot: own, available })
    }
    const judged = view.time.firstOf(asks, (ask) => judge(ask, stages))
    const ready = judged.map(({ ask }) => ask)
    const prepared = new Map<Slot, Prepared>()
    for (const [slot, { stage, snapshot: own, available }] of stages) {
      if (!available) {
        prepared.set(slot, { stage, state: null, available, leftOut: null })
        continue
      }
      try {
        const state = stage.prepare
          ? await stage.prepare(
              ready,
              own,
              view.tx,
              memory.outside.get(slot),
              matchedOf(judged, slot),
            )
          : own
        prepared.set(slot, { stage, state, available, leftOut: stage.leftOut?.(own) ?? null })
      } catch (error) {
        giveUp(slot, error)
      }
    }
    return { judged, prepared }
  }

  #snapshot(
    { orgId, configVersion, tx }: View,
    live: ReadonlyMap<Slot, Stage>,
    giveUp: (slot: Slot, error: unknown) => never,
  ): Promise<Snapshot> {
    // A snapshot that lacks a stage serves this batch only.
    const snapshots = live.size === this.#stages.size ? this.#snapshots : new Snapshots()
    return snapshots.at(orgId, configVersion, live, tx, giveUp)
  }

  #giveUp(memory: BatchMemory, slot: Slot, error: unknown): void {
    this.#log.error({ err: error, slot }, 'a stage cannot answer; it denies')
    memory.unavailable.add(slot)
  }
}

/** What a stage found to match, by request. */
function matchedOf(judged: readonly Judged[], slot: Slot): ReadonlyMap<Ask, unknown> {
  const found = new Map<Ask, unknown>()
  for (const { ask, matched } of judged) {
    const one = matched?.get(slot)
    if (one !== undefined) found.set(ask, one)
  }
  return found
}

const laid = new WeakMap<Overlay, Map<unknown, unknown>>()

/**
 * What a stage knows, with the rules of a preview laid over it. What cannot be laid over is refused.
 * Made once for all parts of a preview: indexing many rules takes its time.
 */
function overlaid(stage: Stage, snapshot: unknown, overlay: Overlay | undefined): unknown {
  if (!overlay || !stage.overlay) return snapshot
  const known = laid.get(overlay) ?? new Map<unknown, unknown>()
  laid.set(overlay, known)
  if (!known.has(snapshot)) known.set(snapshot, stage.overlay(snapshot, overlay))
  return known.get(snapshot)
}
