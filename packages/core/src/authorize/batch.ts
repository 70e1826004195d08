import type { Logger } from 'pino'
import { LRUCache } from 'lru-cache'
import { MAX_CACHED_ORGS } from '../base/page.ts'
import type { BatchTime } from '../computing/computing.ts'
import { isUnavailable } from '../db/failure.ts'
import type { OrganizationVersions } from '../limits/at-version.ts'
import { RetryBatch } from '../ledger/write/work.ts'
import { judge, observe } from './decide.ts'
import type { RuleVerdicts, Slots, SlotState } from './decide.ts'
import type {
  Ask,
  CounterNeed,
  Counters,
  CounterSource,
  DecisionScope,
  Observer,
  Overlay,
  Slot,
  Stage,
} from './stage.ts'

/** The transaction in which a batch is prepared, and the version of the rules that it sees. */
export interface BatchScope extends DecisionScope {
  readonly configVersion: number
  readonly time: BatchTime
}

/** The compiled rules of an organization at one version of its configuration. Immutable. */
interface Snapshot {
  readonly version: number
  readonly rules: ReadonlyMap<Slot, unknown>
  readonly observers: ReadonlyMap<Slot, Observer>
}

type Stages = ReadonlyMap<Slot, Stage>

/** The stages in their slots, and the rules of organizations as this process last loaded them. */
export class DecisionStages {
  readonly log: Logger
  readonly versions: OrganizationVersions
  /** They need no time limit: `config_version` invalidates them. */
  readonly snapshots = new LRUCache<string, Snapshot>({ max: MAX_CACHED_ORGS })
  stages: Stages = new Map()
  /** The stages that need external facts. */
  gathering: readonly (readonly [Slot, Stage])[] = []
  counters: CounterSource | null = null

  constructor(log: Logger, versions: OrganizationVersions) {
    this.log = log
    this.versions = versions
  }

  /** Fills the slots. Called once, at boot. */
  use(stages: Stages, counters: CounterSource | null): void {
    this.stages = stages
    this.counters = counters
    this.gathering = [...stages].filter(([, stage]) => stage.gather !== undefined)
  }

  /** Returns whether a stored answer awaits something that has happened since. */
  async hasEnded(
    answer: string,
    scope: Pick<DecisionScope, 'orgId' | 'tx' | 'now'>,
  ): Promise<boolean> {
    for (const stage of this.stages.values())
      if (await stage.hasEnded?.(answer, scope.orgId, scope.tx, scope.now)) return true
    return false
  }
}

/**
 * Requests of one organization that are decided together: all I/O before their decision. One object
 * lives through all attempts of their transaction, and keeps external facts and stages that failed.
 */
export class DecisionBatch {
  readonly #all: DecisionStages
  readonly #orgId: string
  readonly #overlaid: OverlaidRules | undefined
  /** The rules of the last attempt, without the stages that failed. */
  #snapshot: Snapshot | null = null
  /** Version of the rules for which external facts were gathered. */
  #gathered: number | null = null
  readonly #outside = new Map<Slot, unknown>()
  readonly #unavailable = new Set<Slot>()
  /** The stages of the last attempt. */
  slots: Slots = new Map()
  /** The counters of the last attempt; null in an edition without them. */
  counters: Counters | null = null

  constructor(all: DecisionStages, orgId: string, overlaid?: OverlaidRules) {
    this.#all = all
    this.#orgId = orgId
    this.#overlaid = overlaid
  }

  /**
   * Lets stages gather external facts before a transaction begins; the first batch of a new version
   * retries for it.
   */
  async gather(asks: () => readonly Ask[]): Promise<void> {
    const snapshot = this.#snapshot ?? this.#all.snapshots.get(this.#orgId)
    if (!snapshot || this.#gathered === snapshot.version) return
    this.#gathered = snapshot.version
    const { gathering } = this.#all
    if (gathering.length === 0 || this.#overlaid?.nothingSpent) return
    const all = asks()
    for (const [slot, stage] of gathering) {
      if (this.#unavailable.has(slot)) continue
      try {
        const rules = this.#rulesOf(stage, snapshot.rules.get(slot))
        this.#outside.set(slot, await stage.gather?.(all, rules))
      } catch (error) {
        this.#giveUp(slot, error)
      }
    }
  }

  /**
   * Reads counters, judges as many requests as the time allows, and prepares the state of every stage for them; the rest
   * of the requests is left for the next batch. After a stage that fails, `RetryBatch` is thrown because
   * its transaction must end, and the next attempt does without it. An error that means that the database
   * is unavailable, or asks to repeat the transaction, is rethrown.
   */
  async prepare(asks: readonly Ask[], scope: BatchScope): Promise<readonly RuleVerdicts[]> {
    const snapshot = await this.#load(scope)
    this.#snapshot = snapshot
    const gathers = this.#all.gathering.some(([slot]) => !this.#unavailable.has(slot))
    if (gathers && this.#gathered !== snapshot.version) throw new RetryBatch()
    const slots = new Map<Slot, SlotState>()
    for (const [slot, stage] of this.#all.stages) {
      const available = !this.#unavailable.has(slot)
      const rules = available ? this.#rulesOf(stage, snapshot.rules.get(slot)) : null
      slots.set(slot, { stage, available, rules, state: null, leftOut: null, effects: [] })
    }
    this.slots = slots
    const counters = (this.counters = await this.#read(asks, scope))
    const observers = this.#overlaid
      ? observersOf(this.#all.stages, (slot) => slots.get(slot)?.rules)
      : snapshot.observers
    const judged = scope.time.firstOf(asks, (ask) =>
      observers.size === 0
        ? judge(ask, slots)
        : { ...judge(ask, slots), observations: observe(ask, observers, this.#observerFailed) },
    )
    const ready = asks.slice(0, judged.length)
    for (const [slot, filled] of slots) {
      const { stage, available, rules } = filled
      if (!available) continue
      try {
        const outside = this.#outside.get(slot)
        filled.state = stage.prepare
          ? await stage.prepare(
              ready,
              rules,
              { ...scope, counters },
              outside,
              matchedOf(judged, slot),
            )
          : rules
        filled.leftOut = stage.leftOut?.(rules) ?? null
      } catch (error) {
        this.#fail(error, slot)
      }
    }
    return judged
  }

  /** Reads the counters of all requests at once. */
  async #read(asks: readonly Ask[], scope: BatchScope): Promise<Counters | null> {
    const counting: Slot[] = []
    const needs: CounterNeed[] = []
    try {
      for (const [slot, { stage, available, rules }] of this.slots) {
        if (!available || !stage.counts) continue
        counting.push(slot)
        needs.push(...stage.counts(asks, rules, scope.now))
      }
      const read = this.#overlaid?.nothingSpent ? [] : needs
      return (await this.#all.counters?.read(read, scope)) ?? null
    } catch (error) {
      return this.#fail(error, ...counting)
    }
  }

  /**
   * Returns the rules at the version of the scope, loaded inside the transaction that holds the lock of
   * the organization. Stages whose rules cannot have changed keep those of the last version.
   */
  async #load(scope: BatchScope): Promise<Snapshot> {
    const { snapshots, versions, stages } = this.#all
    const version = scope.configVersion
    const isWhole = this.#unavailable.size === 0
    const known = isWhole ? snapshots.get(this.#orgId) : undefined
    if (known?.version === version) return known
    const parts = known ? versions.partsBetween(this.#orgId, known.version, version) : 'all'
    const rules = new Map<Slot, unknown>()
    for (const [slot, stage] of stages) {
      if (this.#unavailable.has(slot)) continue
      if (known && parts !== 'all' && stage.reads && !stage.reads.some((part) => parts.has(part))) {
        rules.set(slot, known.rules.get(slot))
        continue
      }
      try {
        rules.set(slot, await stage.load(scope))
      } catch (error) {
        this.#fail(error, slot)
      }
    }
    const snapshot = { version, rules, observers: observersOf(stages, (slot) => rules.get(slot)) }
    // A snapshot without all stages is valid for this batch only.
    if (isWhole) snapshots.set(this.#orgId, snapshot)
    return snapshot
  }

  #rulesOf(stage: Stage, rules: unknown): unknown {
    return this.#overlaid ? this.#overlaid.of(stage, rules) : rules
  }

  readonly #observerFailed = (slot: Slot, error: unknown): void => {
    this.#all.log.error({ err: error, slot }, 'observed rules failed; the decision is not affected')
  }

  #fail(error: unknown, ...slots: readonly Slot[]): never {
    if (isUnavailable(error)) throw error
    for (const slot of slots) this.#giveUp(slot, error)
    throw new RetryBatch()
  }

  #giveUp(slot: Slot, error: unknown): void {
    this.#all.log.error({ err: error, slot }, 'stage failed; denying the requests that need it')
    this.#unavailable.add(slot)
  }
}

/** The rules of stages with those of a preview; built once, because indexing many rules takes time. */
export class OverlaidRules {
  readonly #overlay: Overlay
  readonly #built = new Map<unknown, unknown>()

  constructor(overlay: Overlay) {
    this.#overlay = overlay
  }

  get nothingSpent(): boolean {
    return this.#overlay.nothing_spent ?? false
  }

  /** Throws for rules that the stage does not support. */
  of(stage: Stage, rules: unknown): unknown {
    if (!stage.overlay) return rules
    if (!this.#built.has(rules)) this.#built.set(rules, stage.overlay(rules, this.#overlay))
    return this.#built.get(rules)
  }
}

/** The observers of the stages that have observed rules. */
function observersOf(
  stages: Stages,
  rulesOf: (slot: Slot) => unknown,
): ReadonlyMap<Slot, Observer> {
  const observers = new Map<Slot, Observer>()
  for (const [slot, stage] of stages) {
    const rules = rulesOf(slot)
    const observer = rules ? stage.observer?.(rules) : null
    if (observer) observers.set(slot, observer)
  }
  return observers
}

/** Returns the matches of a stage, by request. */
function matchedOf(judged: readonly RuleVerdicts[], slot: Slot): ReadonlyMap<Ask, unknown> {
  const found = new Map<Ask, unknown>()
  for (const { ask, matched } of judged) {
    const one = matched?.get(slot)
    if (one !== undefined) found.set(ask, one)
  }
  return found
}
