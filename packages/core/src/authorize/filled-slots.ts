import type { AnyDatabase } from '../db/portable.ts'
import type { Logger } from 'pino'
import { isUnavailable } from '../db/failure.ts'
import { TryAgain } from '../ledger/write/work.ts'
import type { BatchTime } from '../computing/computing.ts'
import type { BatchMemory, Snapshot } from './snapshots.ts'
import type { Prepared, Judged, Ruled } from './decide.ts'
import { judge } from './decide.ts'
import type { Slot } from './slots.ts'
import { Snapshots } from './snapshots.ts'
import type { Ask, Overlay, Stage } from './stage.ts'

/** The transaction in which stages are prepared, and the version of the rules that it sees. */
export interface StageTransaction {
  readonly orgId: string
  readonly tx: AnyDatabase
  readonly configVersion: number
  readonly time: BatchTime
}

interface AnswerTransaction extends Pick<StageTransaction, 'orgId' | 'tx'> {
  readonly now: number
}

/** Requests that are ready for a decision, with the states of the stages for them. */
export interface Ready {
  /** The first of the requests; the rest is left for the next batch. */
  readonly judged: readonly Judged[]
  readonly prepared: ReadonlyMap<Slot, Prepared>
}

/** The stages in their slots and their cached rules: all I/O before a decision. */
export class FilledSlots {
  readonly #snapshots = new Snapshots()
  readonly #log: Logger
  #stages: ReadonlyMap<Slot, Stage> = new Map()
  /** The stages that need external facts. */
  #gathering: readonly (readonly [Slot, Stage])[] = []

  constructor({ log }: { readonly log: Logger }) {
    this.#log = log
  }

  /** Fills the slots. Called once, at boot. */
  use(stages: ReadonlyMap<Slot, Stage>): void {
    this.#stages = stages
    this.#gathering = [...stages].filter(([, stage]) => stage.gather !== undefined)
  }

  /** True if a stage needs external facts. */
  get gathers(): boolean {
    return this.#gathering.length > 0
  }

  /**
   * Lets stages gather external facts before a transaction begins; the first batch of a new version
   * retries for it.
   */
  async gather(
    orgId: string,
    asks: () => readonly Ask[],
    memory: BatchMemory,
    overlay?: Overlay,
  ): Promise<void> {
    const snapshot = memory.snapshot ?? this.#snapshots.peek(orgId)
    if (!snapshot || memory.version === snapshot.version) return
    memory.version = snapshot.version
    if (!this.gathers) return
    const all = asks()
    for (const [slot, stage] of this.#gathering) {
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
   * Judges as many requests as the time allows and prepares the state of every stage for them. A
   * stage that fails is marked in `memory`, and `TryAgain` is thrown because its transaction must
   * end. An error that means that the database is unavailable, or asks to repeat the transaction, is
   * rethrown.
   */
  async prepare(
    asks: readonly Ask[],
    view: StageTransaction,
    memory: BatchMemory,
    overlay?: Overlay,
  ): Promise<Ready> {
    const giveUp = (slot: Slot, error: unknown): never => {
      if (isUnavailable(error)) throw error
      this.#giveUp(memory, slot, error)
      throw new TryAgain()
    }
    const { unavailable } = memory
    const live =
      unavailable.size === 0
        ? this.#stages
        : new Map([...this.#stages].filter(([slot]) => !unavailable.has(slot)))
    // A snapshot without all stages is valid for this batch only.
    const snapshots = live === this.#stages ? this.#snapshots : new Snapshots()
    const snapshot = await snapshots.at(view.orgId, view.configVersion, live, view.tx, giveUp)
    memory.snapshot = snapshot
    const gathers = this.#gathering.some(([slot]) => live.has(slot))
    if (gathers && memory.version !== snapshot.version) throw new TryAgain()
    const stages = this.#ruled(snapshot, live, overlay)
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

  /** Returns whether a stored answer awaits something that has happened since. */
  async hasEnded(answer: string, { orgId, tx, now }: AnswerTransaction): Promise<boolean> {
    for (const stage of this.#stages.values())
      if (await stage.hasEnded?.(answer, orgId, tx, now)) return true
    return false
  }

  #ruled(
    snapshot: Snapshot,
    live: ReadonlyMap<Slot, Stage>,
    overlay: Overlay | undefined,
  ): ReadonlyMap<Slot, Ruled> {
    const stages = new Map<Slot, Ruled>()
    for (const [slot, stage] of this.#stages) {
      const available = live.has(slot)
      const own = available ? overlaid(stage, snapshot.slots.get(slot), overlay) : null
      stages.set(slot, { stage, snapshot: own, available })
    }
    return stages
  }

  #giveUp(memory: BatchMemory, slot: Slot, error: unknown): void {
    this.#log.error({ err: error, slot }, 'stage failed; denying the requests that need it')
    memory.unavailable.add(slot)
  }
}

/** Returns the matches of a stage, by request. */
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
 * Returns the snapshot of a stage with the rules of a preview added. Throws for rules that a stage
 * does not support. Built once per preview, because indexing many rules takes time.
 */
function overlaid(stage: Stage, snapshot: unknown, overlay: Overlay | undefined): unknown {
  if (!overlay || !stage.overlay) return snapshot
  const known = laid.get(overlay) ?? new Map<unknown, unknown>()
  laid.set(overlay, known)
  if (!known.has(snapshot)) known.set(snapshot, stage.overlay(snapshot, overlay))
  return known.get(snapshot)
}
