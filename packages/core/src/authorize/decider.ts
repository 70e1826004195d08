import type { AuthorizeAnswer, AuthorizeRequest } from '@remit/contract'
import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import { isUnavailable } from '../db/failure.ts'
import type { Caller } from '../http/caller.ts'
import type { Ids } from '../ids.ts'
import type { EntryDraft } from '../ledger/draft.ts'
import { firstOf, TryAgain, unrecorded } from '../ledger/work.ts'
import type { Item, Lane, LaneResult, Outcome, Requester, Scope } from '../ledger/work.ts'
import type { Writer } from '../ledger/writer.ts'
import { decide } from './decide.ts'
import type { Decided, Prepared } from './decide.ts'
import { resourceText } from './resource.ts'
import type { Slot } from './slots.ts'
import { Snapshots } from './snapshots.ts'
import type { Snapshot } from './snapshots.ts'
import type { Ask, Claims, Stage } from './stage.ts'

interface Job {
  readonly decisionId: string
  readonly request: AuthorizeRequest
  readonly claims: Claims
}

type Stages = ReadonlyMap<Slot, Stage>

/** What a batch learned: facts from outside, and stages that could not answer. */
class BatchMemory {
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

/** The decision point: decides a batch inside the transaction that records it. */
export class Decider implements Lane<Job, AuthorizeAnswer> {
  readonly name = 'authorize'
  readonly #snapshots = new Snapshots()
  readonly #writer: Writer
  readonly #deps: { readonly clock: Clock; readonly ids: Ids; readonly log: Logger }
  #stages: Stages = new Map()

  constructor(writer: Writer, deps: { clock: Clock; ids: Ids; log: Logger }) {
    this.#writer = writer
    this.#deps = deps
  }

  /** Fills the slots; once, at boot. */
  use(stages: Stages): void {
    this.#stages = stages
  }

  /** The durable answer to one request. Whatever keeps it from being recorded: 503, and nothing happened. */
  async authorize(
    caller: Caller,
    request: AuthorizeRequest,
    requester: Omit<Requester, 'caller'>,
    claims: Claims = {},
  ): Promise<AuthorizeAnswer> {
    const decisionId = this.#deps.ids.next('dec_', this.#deps.clock.now())
    try {
      return await this.#writer.submit(
        this,
        caller.orgId,
        { decisionId, request, claims },
        { ...requester, caller },
      )
    } catch (error) {
      throw unrecorded(error)
    }
  }

  /** Lets stages ask outside before anything is locked; the first batch of a version comes back for it. */
  async before(
    orgId: string,
    items: readonly Item<Job>[],
    memo: Map<string, unknown>,
  ): Promise<void> {
    const memory = BatchMemory.of(memo)
    const snapshot = memory.snapshot ?? this.#snapshots.peek(orgId)
    if (!snapshot || memory.version === snapshot.version) return
    memory.version = snapshot.version
    const asks = items.map((item) => this.#ask(orgId, item, this.#deps.clock.now()))
    for (const [slot, stage] of this.#stages) {
      if (!stage.gather || memory.unavailable.has(slot)) continue
      try {
        memory.outside.set(slot, await stage.gather(asks, snapshot.slots.get(slot)))
      } catch (error) {
        this.#giveUp(memory, slot, error)
      }
    }
  }

  async run(
    items: readonly Item<Job>[],
    scope: Scope,
    memo: Map<string, unknown>,
  ): Promise<LaneResult<AuthorizeAnswer>> {
    const memory = BatchMemory.of(memo)
    const asks = items.map((item) => this.#ask(scope.orgId, item, scope.now))
    const prepared = await this.#prepare(asks, scope, memory)
    const decided = asks.map((ask) => {
      const one = decide(ask, prepared)
      for (const settled of one.settled) {
        const { stage, state } = prepared.get(settled.slot) ?? {}
        stage?.apply?.(settled, state)
      }
      return one
    })
    const further: EntryDraft[] = []
    for (const [slot, { stage, state, available }] of prepared) {
      if (!stage.record || !available) continue
      const settled = decided.flatMap((one) => one.settled.filter((effect) => effect.slot === slot))
      if (settled.length > 0)
        further.push(
          ...((await stage.record(settled, state, scope.tx as never, scope.writes)) ?? []),
        )
    }
    return {
      outcomes: decided.map((one, i) => outcomeOf(one, items[i]?.caller ?? null, scope)),
      further,
    }
  }

  #ask(orgId: string, { job, caller }: Item<Job>, now: number): Ask {
    const { request, claims, decisionId } = job
    return {
      orgId,
      plan: caller?.plan ?? 'free',
      decisionId,
      caller,
      request,
      claims,
      resource: resourceText(request.resource),
      now,
    }
  }

  /** Every stage's state for the batch. One that fails is marked and the transaction starts again. */
  async #prepare(
    asks: readonly Ask[],
    scope: Scope,
    memory: BatchMemory,
  ): Promise<Map<Slot, Prepared>> {
    const tx = scope.tx as never
    const giveUp = (slot: Slot, error: unknown): never => {
      if (isUnavailable(error)) throw error
      this.#giveUp(memory, slot, error)
      throw new TryAgain()
    }
    const live = new Map([...this.#stages].filter(([slot]) => !memory.unavailable.has(slot)))
    const whole = live.size === this.#stages.size
    // A snapshot that lacks a stage serves this batch only.
    const snapshots = whole ? this.#snapshots : new Snapshots()
    const snapshot = await snapshots.at(scope.orgId, scope.configVersion, live, tx, giveUp)
    memory.snapshot = snapshot
    const gathers = [...live.values()].some((stage) => stage.gather)
    if (gathers && memory.version !== snapshot.version) throw new TryAgain()
    const prepared = new Map<Slot, Prepared>()
    for (const [slot, stage] of this.#stages) {
      if (!live.has(slot)) {
        prepared.set(slot, { stage, state: null, available: false, leftOut: null })
        continue
      }
      const own = snapshot.slots.get(slot)
      try {
        const state = await stage.prepare(asks, own, tx, memory.outside.get(slot))
        prepared.set(slot, { stage, state, available: true, leftOut: stage.leftOut?.(own) ?? null })
      } catch (error) {
        giveUp(slot, error)
      }
    }
    return prepared
  }

  #giveUp(memory: BatchMemory, slot: Slot, error: unknown): void {
    this.#deps.log.error({ err: error, slot }, 'a stage cannot answer; it denies')
    memory.unavailable.add(slot)
  }
}

function outcomeOf(
  decided: Decided,
  caller: Caller | null,
  scope: Scope,
): Outcome<AuthorizeAnswer> {
  const { ask, decision, reason, message, matched, warnings } = decided
  const { request, resource, decisionId } = ask
  const properties = typeof request.resource === 'object' ? request.resource.properties : undefined
  const entry: EntryDraft = {
    kind: 'authorization.decided',
    actor: caller
      ? { type: caller.principal.type, id: caller.principal.id }
      : { type: 'system', id: 'remit' },
    agent_id: request.agent_id,
    action: request.action,
    resource,
    decision,
    reason,
    data: {
      ...decided.data,
      config_version: scope.configVersion,
      context: request.context ?? {},
      decision_id: decisionId,
      matched,
      plan: ask.plan,
      ...(properties && { resource_properties: properties }),
      ...(warnings.length > 0 && { warnings }),
    },
  }
  return {
    entries: [entry],
    reply: (recorded) => ({
      decision,
      reason,
      message,
      decision_id: decisionId,
      agent_id: request.agent_id,
      action: request.action,
      matched: [...matched],
      ...decided.answer,
      ...(warnings.length > 0 && { warnings: [...warnings] }),
      ledger: firstOf(recorded).receipt,
      decided_at: scope.recordedAt,
    }),
  }
}
