import type { Answer, AppendRequest, ledger as endpoints } from '@remit/contract'
import { isOwn, ownAgent } from '@remit/core/caller'
import type { Caller, Principal } from '@remit/core/caller'
import { firstOf, lane, toClientError } from '@remit/core/ledger/lanes'
import type {
  EntryData,
  EntryDraft,
  Lane,
  Outcome,
  Work,
  WorkOrigin,
  LedgerScope,
} from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { fromMicroUsd, toMicroUsd } from '@remit/contract/values'
import { fail, invalid } from '@remit/core/base'
import type { Failure } from '@remit/core/base'
import type { BulkInsert } from '@remit/core/db'
import { resourceText } from '@remit/core/decision'
import type { Move } from '@remit/core/decision'
import { withContent } from '@remit/core/ledger/records'
import { AppendThresholds } from '../spend/append-thresholds.ts'
import { agentMoves, counterRows, findHolds, holdRows } from '../counters/store.ts'
import type { SpendHoldRow } from '../tables/schema.ts'
import { agentsThatSettleFreely } from '../spend/limits-store.ts'
import { freesOwnCap, heldAt, settleHold } from '../counters/settle.ts'

/** Appends an entry of a caller and settles the hold that it names. */
export type Append = (
  body: AppendRequest,
  origin: WorkOrigin<Caller>,
) => Promise<Answer<typeof endpoints.appendEntry>>

/** Appends by callers; one for the process, so that they share transactions. */
export function appender({
  db,
  ledger,
  writer,
  settings,
}: Pick<Deps, 'db' | 'ledger' | 'writer' | 'settings'>): Append {
  // With an external spend source, appends do not count towards limits.
  const own = appendLane(settings.spendUrl === undefined ? new AppendThresholds() : null)
  /** Decisions never change, so a linked one is read before the transaction. */
  const withLink = async (orgId: string, body: AppendRequest): Promise<AppendJob> => {
    const { decision_id: id } = body
    if (id == null || settles(body)) return body
    // Every allow has a hold, until it is old.
    const [hold] = await findHolds(db, orgId, [id])
    const linked = hold
      ? { agentId: hold.agent_id, isAllow: true }
      : await ledger.decisionOf(orgId, id)
    return { ...body, linked }
  }
  return async (body, origin) => {
    try {
      const { orgId } = origin.caller
      const job = await withLink(orgId, body)
      return await writer.submit(own, orgId, job, origin)
    } catch (error) {
      throw toClientError(error)
    }
  }
}

type Appended = Answer<typeof endpoints.appendEntry>

/** An append; `linked` is the decision that it only links to, null where there is none. */
type AppendJob = AppendRequest & { readonly linked?: LinkedDecision | null }

interface LinkedDecision {
  readonly agentId: string
  readonly isAllow: boolean
}

/** Returns whether an append settles the hold of its decision or only links to it. */
const settles = ({ decision_id, cost_usd, settle }: AppendRequest): boolean =>
  decision_id != null && (cost_usd !== undefined || settle !== undefined)

/**
 * Appends by callers: the entry, its cost and the settled hold, in one transaction. Without
 * `thresholds`, limits use an external spend source.
 */
const appendLane = (thresholds: AppendThresholds | null): Lane<AppendJob, Appended> =>
  lane('append', async (works, scope) => {
    const holds = await readHolds(works, scope)
    const batch = new Batch(scope, holds, await readFree(works, holds, scope))
    const outcomes = works.map((work) => batch.append(work))
    const further = (await thresholds?.entries(batch.counted, scope)) ?? []
    scope.writes.push(...batch.writes())
    return { outcomes, further }
  })

/**
 * Reads the holds of the decisions in the batch. Every allow has a hold; other decisions cannot be
 * settled.
 */
async function readHolds(
  works: readonly Work<AppendJob>[],
  { orgId, tx }: LedgerScope,
): Promise<Map<string, SpendHoldRow>> {
  const ids = [
    ...new Set(works.flatMap(({ job }) => (settles(job) ? (job.decision_id ?? []) : []))),
  ]
  return new Map((await findHolds(tx, orgId, ids)).map((hold) => [hold.decision_id, hold]))
}

/** The agents of the batch whose limits allow settlement below the hold without the scope. */
function readFree(
  works: readonly Work<AppendJob>[],
  holds: ReadonlyMap<string, SpendHoldRow>,
  { orgId, tx, recordedAt }: LedgerScope,
): Promise<ReadonlySet<string>> {
  const agents = works.flatMap(({ job, caller }) => {
    const hold = holds.get(job.decision_id ?? '')
    return hold && freesOwnCap(caller, hold, costOf(job, hold), recordedAt) ? [hold.agent_id] : []
  })
  return agentsThatSettleFreely(tx, orgId, [...new Set(agents)])
}

/** The appends of one transaction, with their spend. */
class Batch {
  readonly #scope: LedgerScope
  readonly #holds: Map<string, SpendHoldRow>
  readonly #free: ReadonlySet<string>
  readonly settled: SpendHoldRow[] = []
  readonly moves: Move[] = []
  /** The moves without the ends of holds that were over before. */
  readonly counted: Move[] = []

  constructor(scope: LedgerScope, holds: Map<string, SpendHoldRow>, free: ReadonlySet<string>) {
    this.#scope = scope
    this.#holds = holds
    this.#free = free
  }

  append({ job: asked, caller }: Work<AppendJob>): Outcome<Appended> | Failure {
    const own = ownAgent(caller)
    const { linked, ...body } = asked
    const job = own === null ? body : { ...body, actor: own, agent_id: own }
    if (job.decision_id != null && !settles(job)) return this.#link(job, caller, linked ?? null)
    const found = job.decision_id == null ? undefined : this.#holds.get(job.decision_id)
    // Holds of other agents do not exist for a credential.
    const hold = found && isOwn(caller, found.agent_id) ? found : undefined
    if (job.decision_id != null) {
      if (!hold)
        return fail('decision_not_found', `No allowed decision has the id ${job.decision_id}`)
      if (hold.state === 'settled')
        return fail('decision_settled', `${job.decision_id} is already settled`)
      if (job.agent_id !== undefined && job.agent_id !== hold.agent_id)
        return otherAgent(hold.agent_id)
    }
    const cost = costOf(job, hold)
    if (
      hold &&
      !this.#free.has(hold.agent_id) &&
      freesOwnCap(caller, hold, cost, this.#scope.recordedAt)
    )
      return scopeRequired()
    const priced = job.settle === undefined ? job : { ...job, cost_usd: cost }
    const draft = draftOf(priced, hold?.agent_id ?? job.agent_id ?? null, caller)
    this.#spend(priced, hold, draft)
    return this.#outcome(draft)
  }

  /** An entry that links to a decision without settling its hold. */
  #link(
    job: AppendRequest,
    caller: Caller | null,
    linked: LinkedDecision | null,
  ): Outcome<Appended> | Failure {
    if (linked === null || !isOwn(caller, linked.agentId))
      return fail('decision_not_found', `No decision has the id ${job.decision_id}`)
    const { agentId, isAllow } = linked
    if (job.agent_id !== undefined && job.agent_id !== agentId) return otherAgent(agentId)
    // An outcome is what became of an execution, and nothing but an allow may be executed.
    const isGap = !isAllow && job.outcome !== undefined
    return this.#outcome(draftOf(job, agentId, caller, isGap ? GAP : APPENDED))
  }

  #outcome(draft: EntryDraft): Outcome<Appended> {
    return {
      entries: [draft],
      reply: (recorded) => {
        const { row, content, receipt } = firstOf(recorded)
        return { ...withContent(row, content), ledger: receipt }
      },
    }
  }

  #spend(job: AppendRequest, hold: SpendHoldRow | undefined, draft: EntryDraft): void {
    const { cost_usd: cost } = job
    if (cost === undefined) return
    const { recordedAt } = this.#scope
    if (hold) {
      const moves = settleHold(hold, cost, recordedAt)
      const isOver = heldAt(hold, recordedAt) === 0
      this.#move(moves, isOver ? moves.filter(({ held }) => held === 0) : moves)
      const settled = { ...hold, state: 'settled' as const }
      this.#holds.set(hold.decision_id, settled)
      this.settled.push(settled)
    } else this.#move(agentMoves(draft.agent_id ?? draft.actor.id, recordedAt, toMicroUsd(cost), 0))
  }

  #move(moves: readonly Move[], counted = moves): void {
    this.moves.push(...moves)
    this.counted.push(...counted)
  }

  writes(): BulkInsert[] {
    return [holdRows(this.settled), counterRows(this.#scope.orgId, this.moves)]
  }
}

/** The cost of a settlement, in USD. */
const costOf = (
  { cost_usd: cost = 0, settle }: AppendRequest,
  hold: Pick<SpendHoldRow, 'held_micro'> | undefined,
): number => (settle === 'held' && hold ? fromMicroUsd(hold.held_micro) : cost)

const otherAgent = (agent: string): Failure =>
  invalid('agent_id', `must be ${agent}, the agent of the decision, or omitted`)

const scopeRequired = (): Failure =>
  fail(
    'scope_required',
    'Settling below the held amount requires the scope ledger:settle, or settlement_by_agent "any" in the spend limit',
    {
      extensions: { required_scope: 'ledger:settle' },
      headers: {
        'WWW-Authenticate':
          'Bearer realm="remit", error="insufficient_scope", scope="ledger:settle"',
      },
    },
  )

const APPENDED = 'entry.appended'
/** Something ran without an allow. */
const GAP = 'enforcement.gap'

/** No member of the request chooses the kind of its entry, so none can look like the server's own. */
function draftOf(
  job: AppendRequest,
  agentId: string | null,
  caller: Caller | null,
  kind: typeof APPENDED | typeof GAP = job.decision_id === null ? GAP : APPENDED,
): EntryDraft {
  return {
    kind,
    actor: actorOf(job.actor, agentId, caller?.principal.id ?? null),
    agent_id: agentId,
    action: job.action,
    resource: resourceText(job.resource),
    data: dataOf(job, caller?.principal ?? null),
  }
}

function actorOf(
  actor: AppendRequest['actor'],
  agentId: string | null,
  key: string | null,
): EntryDraft['actor'] {
  if (typeof actor === 'object') return actor
  const id = actor ?? agentId
  return id === null ? { id: key ?? 'remit', type: 'key' } : { id, type: 'agent' }
}

/** The given members in canonical order; an empty trace id is omitted. */
function dataOf(job: AppendRequest, principal: Principal | null): EntryData<typeof APPENDED> {
  const { cost_usd, decision_id, metadata, occurred_at, outcome, resource, settle, trace_id } = job
  const properties = typeof resource === 'object' ? resource.properties : undefined
  return {
    ...(cost_usd !== undefined && { cost_usd }),
    ...(principal?.type === 'credential' && { credential_id: principal.id }),
    ...(decision_id !== undefined && { decision_id }),
    ...(principal?.type !== 'credential' && { key_id: principal?.id ?? null }),
    ...(metadata !== undefined && { metadata }),
    ...(occurred_at !== undefined && { occurred_at }),
    ...(outcome !== undefined && { outcome }),
    ...(properties !== undefined && { resource_properties: properties }),
    ...(settle !== undefined && { settle }),
    ...(trace_id !== undefined && trace_id !== '' && { trace_id }),
  }
}
