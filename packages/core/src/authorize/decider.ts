import type {
  AuthorizeAnswer,
  AuthorizeBody,
  AuthorizeRequest,
  Plan,
  Decision,
} from '@remit/contract'
import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import { invalid } from '../base/errors.ts'
import type { Database } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'
import { actorOf, withAgent } from '../caller/caller.ts'
import type { Caller } from '../caller/caller.ts'
import type { Ids } from '../base/ids.ts'
import type { StoredAnswer } from '../idempotency/claim.ts'
import type { EntryDraft } from '../ledger/format/draft.ts'
import { DecisionMeter } from '../computing/computing.ts'
import { firstOf, lane, LATER, toClientError } from '../ledger/write/work.ts'
import type {
  Lane,
  LaneBatch,
  LaneResult,
  Outcome,
  Work,
  WorkOrigin,
  LedgerScope,
} from '../ledger/write/work.ts'
import type { Writer } from '../ledger/write/writer.ts'
import type { Limiter } from '../base/limiter.ts'
import { admittedDecisions, quotaEntries, quotaExceeded } from '../limits/month.ts'
import type { ObserveDecision } from '../telemetry/metrics.ts'
import type { HeavyWorkQueue } from '../threads/heavy-work-queue.ts'
import {
  decide,
  RESERVED_ACTIONS,
  RESERVED_AGENT,
  resourceText,
  unclearType,
  unseenPlaces,
} from './decide.ts'
import type { DecisionResult, Observations } from './decide.ts'
import { DecisionBatch, DecisionStages } from './batch.ts'
import { preview } from './preview.ts'
import type { Preview, PreviewOptions } from './preview.ts'
import type { Ask, CounterSource, Slot, Stage, ClaimedFacts } from './stage.ts'

interface Job {
  readonly decisionId: string
  readonly request: AuthorizeRequest
  readonly claims: ClaimedFacts
  /** Of the last run of the transaction. */
  observations?: Observations | undefined
}

interface DeciderDeps {
  readonly db: Database<CoreTables>
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly heavyWork: HeavyWorkQueue
  readonly observe: ObserveDecision
  /** Counts decisions by organization, a second at a time. */
  readonly rate: Limiter
}

/** The decision point: decides a batch inside the transaction that records it. */
export class Decider implements Lane<Job, AuthorizeAnswer> {
  readonly name = 'authorize'
  readonly #writer: Writer
  readonly #deps: DeciderDeps
  readonly #stages: DecisionStages

  constructor(writer: Writer, deps: DeciderDeps) {
    this.#writer = writer
    this.#deps = deps
    this.#stages = new DecisionStages(deps.log, writer.versions)
  }

  /** Fills the slots. Called once, at boot. */
  use(stages: ReadonlyMap<Slot, Stage>, counters: CounterSource | null = null): void {
    this.#stages.use(stages, counters)
  }

  open(orgId: string): LaneBatch<Job, AuthorizeAnswer> {
    const batch = new DecisionBatch(this.#stages, orgId)
    const { clock } = this.#deps
    const run: LaneBatch<Job, AuthorizeAnswer>['run'] = (works, scope) =>
      this.#run(works, scope, batch)
    if (this.#stages.gathering.length === 0) return { run }
    return {
      before: (works) => batch.gather(() => works.map((work) => askOf(orgId, work, clock.now()))),
      run,
    }
  }

  /**
   * Returns the durable response to one request. If recording fails, it is a 503 and nothing
   * happened.
   */
  async authorize(
    body: AuthorizeBody,
    origin: WorkOrigin<Caller>,
    claims: ClaimedFacts = {},
  ): Promise<AuthorizeAnswer> {
    const { caller } = origin
    const request = withAgent(caller, body)
    refuseReserved(request)
    const decisionId = this.#deps.ids.next('dec_', this.#deps.clock.now())
    const perSecond = this.#writer.versions.last(caller.orgId)?.limits.decisions_per_second
    if (perSecond !== undefined) {
      const message = `The organization may request at most ${perSecond} decisions per second`
      await this.#deps.rate.take(caller.orgId, perSecond, message)
    }
    const decision = SELF_TESTS.get(request.action)
    try {
      if (decision !== undefined) {
        const job = { decisionId, request, decision }
        return await this.#writer.submit(selfTestLane, caller.orgId, job, origin)
      }
      return await this.#decide({ decisionId, request, claims }, caller.orgId, origin)
    } catch (error) {
      throw toClientError(error)
    }
  }

  async #decide(job: Job, orgId: string, origin: WorkOrigin): Promise<AuthorizeAnswer> {
    const began = performance.now()
    const span = origin.span?.child('remit.decide')
    const traced = span ? { ...origin, span } : origin
    try {
      const answer = await this.#writer.submit(this, orgId, job, traced)
      const { decision, reason, matched } = answer
      const observed = job.observations && wouldOf(job.observations)
      this.#deps.observe(decision, reason, performance.now() - began, observed)
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
    for (const request of requests) refuseReserved(request)
    return preview({ ...this.#deps, stages: this.#stages }, orgId, plan, requests, options)
  }

  hasEnded({ body }: StoredAnswer, scope: LedgerScope): Promise<boolean> {
    return this.#stages.hasEnded(body, scope)
  }

  async #run(
    all: readonly Work<Job>[],
    scope: LedgerScope,
    batch: DecisionBatch,
  ): Promise<LaneResult<AuthorizeAnswer>> {
    const { decided: before, organization, recordedAt } = scope
    const works = all.slice(0, admittedDecisions(organization, before))
    const beyond = all.slice(works.length).map(() => quotaExceeded(organization, scope.now))
    if (works.length === 0) return { outcomes: beyond }
    const { outcomes, further = [] } = await this.#decideAll(works, scope, batch)
    const { decisions_per_month: limit } = organization.limits
    if (limit === undefined) return { outcomes: [...outcomes, ...beyond], further }
    let decided = before
    for (const outcome of outcomes) if (outcome !== LATER) decided++
    const reached = quotaEntries({ limit, decided: before }, { limit, decided }, recordedAt)
    return { outcomes: [...outcomes, ...beyond], further: [...further, ...reached] }
  }

  async #decideAll(
    works: readonly Work<Job>[],
    scope: LedgerScope,
    batch: DecisionBatch,
  ): Promise<LaneResult<AuthorizeAnswer>> {
    const asks = works.map((work) => askOf(scope.orgId, work, scope.now))
    const judged = await batch.prepare(asks, scope)
    const outcomes: (Outcome<AuthorizeAnswer> | typeof LATER)[] = []
    for (const [i, work] of works.entries()) {
      const { caller, origin } = work
      const about = judged[i]
      if (!about) {
        outcomes.push(LATER)
        continue
      }
      const decided = decide(about.ask, batch.slots, about)
      work.job.observations = about.observations
      // The reply refers to the request until the commit.
      about.ask.memo = undefined
      if (decided.broken) {
        const { slot, error } = decided.broken
        this.#deps.log.error({ err: error, slot }, 'stage failed for a request; denying it')
      }
      for (const effect of decided.effects) {
        const filled = batch.slots.get(effect.slot)
        filled?.stage.apply?.(effect, filled.state)
        filled?.effects.push(effect)
        if (effect.moves) batch.counters?.apply(effect.moves)
      }
      outcomes.push(outcomeOf(decided, caller, scope, origin.trace))
    }
    const further: EntryDraft[] = []
    for (const { stage, state, effects } of batch.slots.values())
      if (effects.length > 0) further.push(...((await stage.record?.(effects, state, scope)) ?? []))
    scope.writes.push(...(batch.counters?.writes() ?? []))
    return { outcomes, further }
  }
}

/** The decision of each observed rule; `incomplete` if some were not evaluated or left out. */
const wouldOf = ({ observed = [], observed_incomplete }: Observations): string[] => [
  ...observed.map(({ would }) => would),
  ...(observed_incomplete ? ['incomplete'] : []),
]

function askOf(orgId: string, { job, caller }: Work<Job>, now: number): Ask {
  const { request, claims, decisionId } = job
  return {
    orgId,
    plan: caller?.plan ?? 'free',
    decisionId,
    caller,
    request,
    claims: request.subject ? { subject: request.subject, ...claims } : claims,
    resource: resourceText(request.resource),
    now,
    meter: new DecisionMeter(),
  }
}

function outcomeOf(
  decided: DecisionResult,
  caller: Caller | null,
  scope: LedgerScope,
  trace: WorkOrigin['trace'],
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

/**
 * Refuses the agent and the actions of requests to change rules, which only the server makes: an approval of another
 * request would count for them.
 */
function refuseReserved({ agent_id: agentId, action }: AuthorizeRequest): void {
  if (agentId === RESERVED_AGENT)
    throw invalid('agent_id', 'must not be remit.rules, which is reserved')
  if (action.startsWith(RESERVED_ACTIONS))
    throw invalid('action', 'must not begin with remit.rules., which is reserved')
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
const selfTestLane = lane<SelfTestJob, AuthorizeAnswer>('selftest', (works, scope) =>
  Promise.resolve({ outcomes: works.map((work) => selfTestOutcomeOf(work, scope)) }),
)

function selfTestOutcomeOf(
  { job, caller }: Work<SelfTestJob>,
  { recordedAt }: LedgerScope,
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
