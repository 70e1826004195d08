import type {
  AuthorizeAnswer,
  AuthorizeBody,
  AuthorizeRequest,
  Plan,
  Decision,
} from '@remit/contract'
import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import type { Database } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'
import { actorOf, withAgent } from '../caller/caller.ts'
import type { Caller } from '../caller/caller.ts'
import type { Ids } from '../base/ids.ts'
import type { StoredAnswer } from '../idempotency/claim.ts'
import type { EntryDraft } from '../ledger/format/draft.ts'
import { DecisionMeter } from '../computing/computing.ts'
import { firstOf, LATER, toClientError } from '../ledger/write/work.ts'
import type {
  Item,
  Lane,
  LaneResult,
  Outcome,
  Requester,
  WriteContext,
} from '../ledger/write/work.ts'
import type { Writer } from '../ledger/write/writer.ts'
import type { DecisionRate } from '../limits/decision-rate.ts'
import { admittedDecisions, quotaEntries, quotaExceeded } from '../limits/month.ts'
import type { ObserveDecision } from '../telemetry/request-metrics.ts'
import type { TraceParent } from '../telemetry/tracing.ts'
import type { Share } from '../threads/share.ts'
import { BatchMemory } from './snapshots.ts'
import { decide, unseenPlaces } from './decide.ts'
import type { Decided } from './decide.ts'
import { FilledSlots } from './filled-slots.ts'
import { preview } from './preview.ts'
import type { Preview, PreviewOptions } from './preview.ts'
import { resourceText, unclearType } from './resource.ts'
import type { Slot } from './slots.ts'
import type { Ask, Settled, UnverifiedFacts, Stage } from './stage.ts'

interface Job {
  readonly decisionId: string
  readonly request: AuthorizeRequest
  readonly claims: UnverifiedFacts
  readonly trace: TraceParent | null
}

interface DeciderDeps {
  readonly db: Database<CoreTables>
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly share: Share
  readonly observe: ObserveDecision
  readonly rate: DecisionRate
}

/** The decision point: decides a batch inside the transaction that records it. */
export class Decider implements Lane<Job, AuthorizeAnswer> {
  readonly name = 'authorize'
  readonly #writer: Writer
  readonly #deps: DeciderDeps
  readonly #slots: FilledSlots
  /** Gathers the external facts of stages; absent where no stage needs any. */
  before?: NonNullable<Lane<Job, AuthorizeAnswer>['before']>

  constructor(writer: Writer, deps: DeciderDeps) {
    this.#writer = writer
    this.#deps = deps
    this.#slots = new FilledSlots(deps)
  }

  /** Fills the slots. Called once, at boot. */
  use(stages: ReadonlyMap<Slot, Stage>): void {
    this.#slots.use(stages)
    if (this.#slots.gathers)
      this.before = (orgId, items, memo) => {
        const asks = () => items.map((item) => askOf(orgId, item, this.#deps.clock.now()))
        return this.#slots.gather(orgId, asks, BatchMemory.of(memo))
      }
  }

  /**
   * Returns the durable response to one request. If recording fails, it is a 503 and nothing
   * happened.
   */
  async authorize(
    caller: Caller,
    body: AuthorizeBody,
    requester: Omit<Requester, 'caller'>,
    claims: UnverifiedFacts = {},
  ): Promise<AuthorizeAnswer> {
    const request = withAgent(caller, body)
    const decisionId = this.#deps.ids.next('dec_', this.#deps.clock.now())
    const asked = { ...requester, caller }
    const perSecond = this.#writer.allowances.last(caller.orgId)?.perSecond ?? null
    if (perSecond !== null) await this.#deps.rate.take(caller.orgId, perSecond)
    const decision = SELF_TESTS.get(request.action)
    try {
      if (decision !== undefined) {
        const job = { decisionId, request, decision }
        return await this.#writer.submit(selfTestLane, caller.orgId, job, asked)
      }
      const job = { decisionId, request, claims, trace: requester.trace ?? null }
      return await this.#decide(job, caller.orgId, asked)
    } catch (error) {
      throw toClientError(error)
    }
  }

  async #decide(job: Job, orgId: string, requester: Requester): Promise<AuthorizeAnswer> {
    const began = performance.now()
    const span = requester.span?.child('remit.decide')
    const asked = span ? { ...requester, span } : requester
    try {
      const answer = await this.#writer.submit(this, orgId, job, asked)
      const { decision, reason, matched } = answer
      this.#deps.observe(decision, reason, performance.now() - began)
      span?.set({
        'remit.decision': decision,
        'remit.reason': reason,
        'remit.matched': matched.map(({ id }) => id),
      })
      return answer
    } finally {
      span?.end()
    }
  }

  /**
   * Returns the decisions that `authorize` would make for each request alone, without any effect;
   * see `preview.ts`.
   */
  preview(
    orgId: string,
    plan: Plan,
    requests: readonly AuthorizeRequest[],
    options: PreviewOptions = {},
  ): Promise<Preview[]> {
    return preview({ ...this.#deps, slots: this.#slots }, orgId, plan, requests, options)
  }

  hasEnded({ body }: StoredAnswer, scope: WriteContext): Promise<boolean> {
    return this.#slots.hasEnded(body, scope)
  }

  async run(
    all: readonly Item<Job>[],
    scope: WriteContext,
    memo: Map<string, unknown>,
  ): Promise<LaneResult<AuthorizeAnswer>> {
    const items = all.slice(0, admittedDecisions(scope.allowance, scope.decided))
    const beyond = all.slice(items.length).map(() => quotaExceeded(scope.allowance, scope.now))
    if (items.length === 0) return { outcomes: beyond }
    const { outcomes, further = [] } = await this.#run(items, scope, memo)
    const { decided: before, allowance, recordedAt } = scope
    const limit = allowance.perMonth
    const decided = before + outcomes.filter((outcome) => outcome !== LATER).length
    const reached = quotaEntries({ limit, decided: before }, { limit, decided }, recordedAt)
    return { outcomes: [...outcomes, ...beyond], further: [...further, ...reached] }
  }

  async #run(
    items: readonly Item<Job>[],
    scope: WriteContext,
    memo: Map<string, unknown>,
  ): Promise<LaneResult<AuthorizeAnswer>> {
    const asks = items.map((item) => askOf(scope.orgId, item, scope.now))
    const { judged, prepared } = await this.#slots.prepare(asks, scope, BatchMemory.of(memo))
    const outcomes: (Outcome<AuthorizeAnswer> | typeof LATER)[] = []
    const effects = new Map<Slot, Settled[]>()
    for (const [i, { caller, job }] of items.entries()) {
      const about = judged[i]
      if (!about) {
        outcomes.push(LATER)
        continue
      }
      const decided = decide(about.ask, prepared, about)
      if (decided.broken) {
        const { slot, error } = decided.broken
        this.#deps.log.error({ err: error, slot }, 'stage failed for a request; denying it')
      }
      for (const settled of decided.settled) {
        const { stage, state } = prepared.get(settled.slot) ?? {}
        stage?.apply?.(settled, state)
        const known = effects.get(settled.slot)
        if (known) known.push(settled)
        else effects.set(settled.slot, [settled])
      }
      outcomes.push(outcomeOf(decided, caller, scope, job.trace))
    }
    const further: EntryDraft[] = []
    for (const [slot, { stage, state, available }] of prepared) {
      const settled = effects.get(slot)
      if (settled && stage.record && available)
        further.push(...((await stage.record(settled, state, scope.tx, scope.writes)) ?? []))
    }
    return { outcomes, further }
  }
}

function askOf(orgId: string, { job, caller }: Item<Job>, now: number): Ask {
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
    meter: new DecisionMeter(),
  }
}

function outcomeOf(
  decided: Decided,
  caller: Caller | null,
  scope: WriteContext,
  trace: TraceParent | null,
): Outcome<AuthorizeAnswer> {
  const { ask, decision, reason, message, matched, warnings } = decided
  const { request, resource, decisionId, claims } = ask
  const properties = typeof request.resource === 'object' ? request.resource.properties : undefined
  const type = unclearType(request.resource)
  const told = [...warnings, ...unseenPlaces(request)]
  const entry: EntryDraft = {
    kind: 'authorization.decided',
    actor: actorOf(caller),
    agent_id: request.agent_id,
    action: request.action,
    resource,
    decision,
    reason,
    data: {
      ...decided.data,
      ...(claims.actionProperties && { action_properties: claims.actionProperties }),
      config_version: scope.configVersion,
      context: request.context ?? {},
      decision_id: decisionId,
      matched,
      plan: ask.plan,
      ...(claims.readings && { readings: claims.readings }),
      ...(request.replaced && { replaced: request.replaced }),
      ...(properties && { resource_properties: properties }),
      ...(type !== undefined && { resource_type: type }),
      ...(claims.subject && { subject: claims.subject }),
      ...(trace && { span_id: trace.spanId, trace_id: trace.traceId }),
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
      ...(told.length > 0 && { warnings: told }),
      ledger: firstOf(recorded).receipt,
      decided_at: scope.recordedAt,
    }),
  }
}

/** The request for approval that a self-test is held by; nobody can vote on it. */
const SELF_TEST_APPROVAL = 'apr_selftest'

/** The constant answers to the reserved actions. */
const SELF_TESTS: ReadonlyMap<string, Decision> = new Map([
  ['remit.selftest.allow', 'allow'],
  ['remit.selftest.deny', 'deny'],
  ['remit.selftest.needs_approval', 'needs_approval'],
])

interface SelfTestJob {
  readonly decisionId: string
  readonly request: AuthorizeRequest
  readonly decision: Decision
}

/**
 * Answers the reserved actions by which an agent host proves that it obeys decisions. No stage is asked,
 * no money held, no approval opened, and the entry is no decision for reports.
 */
const selfTestLane: Lane<SelfTestJob, AuthorizeAnswer> = {
  name: 'selftest',
  run: (items, scope) =>
    Promise.resolve({ outcomes: items.map((item) => selfTestOutcomeOf(item, scope)), further: [] }),
}

function selfTestOutcomeOf(
  { job, caller }: Item<SelfTestJob>,
  { recordedAt }: WriteContext,
): Outcome<AuthorizeAnswer> {
  const { decisionId, request, decision } = job
  const { agent_id, action, context = {} } = request
  const held = { id: SELF_TEST_APPROVAL, status: 'pending', expires_at: null }
  const reason = 'self_test'
  return {
    entries: [
      {
        kind: 'selftest.checked',
        actor: actorOf(caller),
        agent_id,
        action,
        resource: resourceText(request.resource),
        decision,
        reason,
        data: { context, decision_id: decisionId },
      },
    ],
    reply: (recorded) => ({
      decision,
      reason,
      message: 'A self-test: the answer is a constant.',
      decision_id: decisionId,
      agent_id,
      action,
      matched: [],
      ...(decision === 'needs_approval' && { request_id: SELF_TEST_APPROVAL, approval: held }),
      ledger: firstOf(recorded).receipt,
      decided_at: recordedAt,
    }),
  }
}
