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
import { appendedCharges, settleCharges } from '../budgets/settle.ts'
import type { ChargesUsed, Settled } from '../budgets/settle.ts'
import { treeLoader, settlementsByAgent } from '../budgets/store.ts'
import type { BudgetTree } from '../budgets/tree.ts'
import { AppendThresholds } from '../budgets/thresholds.ts'
import { agentMoves } from '../counters/charges.ts'
import { counterRows, findHolds, holdRows } from '../counters/store.ts'
import type { SpendHoldRow } from '../tables/schema.ts'
import { freesOwnCap, heldAt, needsScope, settleHold } from '../counters/settle.ts'

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
  offered,
}: Pick<Deps, 'db' | 'ledger' | 'writer' | 'settings' | 'offered'>): Append {
  // With an external spend source, appends do not count towards limits.
  const own = appendLane(
    new AppendThresholds(settings.spendUrl === undefined, treeLoader({ offered })),
  )
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
const settles = ({ decision_id, cost_usd, amounts, settle }: AppendRequest): boolean =>
  decision_id != null && (cost_usd ?? amounts ?? settle) !== undefined

/**
 * Appends by callers: the entry, its cost and the settled hold, in one transaction.
 */
const appendLane = (thresholds: AppendThresholds): Lane<AppendJob, Appended> =>
  lane('append', async (works, scope) => {
    const tree = await thresholds.tree(scope)
    const holds = await readHolds(works, scope)
    const batch = new Batch(scope, holds, await readFree(works, holds, scope, tree), tree)
    const outcomes = works.map((work) => batch.append(work))
    const further = await thresholds.entries(batch.counted, scope)
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

/** Reads `settlement_by_agent` of the agents that settle below a hold. */
function readFree(
  works: readonly Work<AppendJob>[],
  holds: ReadonlyMap<string, SpendHoldRow>,
  { orgId, tx, now, recordedAt }: LedgerScope,
  tree: BudgetTree | null,
): Promise<ReadonlyMap<string, string>> {
  const agents = works.flatMap(({ job, caller }) => {
    const hold = holds.get(job.decision_id ?? '')
    if (!hold) return []
    const isBelow =
      freesOwnCap(caller, hold, costOf(job, hold), recordedAt) ||
      (needsScope(caller) && settleCharges(hold, amountsOf(job), tree, now).below.length > 0)
    return isBelow ? [hold.agent_id] : []
  })
  return settlementsByAgent(tx, orgId, [...new Set(agents)])
}

/** The appends of one transaction, with their spend. */
class Batch {
  readonly #scope: LedgerScope
  readonly #holds: Map<string, SpendHoldRow>
  readonly #free: ReadonlyMap<string, string>
  readonly #tree: BudgetTree | null
  readonly settled: SpendHoldRow[] = []
  readonly moves: Move[] = []
  /** The moves without the ends of holds that were over before. */
  readonly counted: Move[] = []

  constructor(
    scope: LedgerScope,
    holds: Map<string, SpendHoldRow>,
    free: ReadonlyMap<string, string>,
    tree: BudgetTree | null,
  ) {
    this.#scope = scope
    this.#holds = holds
    this.#free = free
    this.#tree = tree
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
    const agentId = hold?.agent_id ?? job.agent_id ?? null
    if (!hold) {
      const charged = appendedCharges(this.#tree, job, agentId ?? agentIn(job), this.#scope.now)
      const draft = draftOf(job, agentId, caller, charged.used)
      this.#spend(job, draft)
      this.#move(charged.moves)
      return this.#outcome(draft)
    }
    const cost = costOf(job, hold)
    const priced = { ...job, cost_usd: cost }
    let charged = settleCharges(hold, amountsOf(job), this.#tree, this.#scope.now)
    if (needsScope(caller)) {
      const isBelow =
        charged.below.length > 0 || freesOwnCap(caller, hold, cost, this.#scope.recordedAt)
      const { nodes } = charged
      const settlement =
        this.#free.get(hold.agent_id) ??
        (nodes.length > 0 && nodes.every((node) => node.settlement_by_agent === 'any')
          ? 'any'
          : 'at_least_held')
      if (isBelow && settlement !== 'any') return scopeRequired()
      charged = settleCharges(hold, amountsOf(job), this.#tree, this.#scope.now, true)
    }
    const draft = draftOf(priced, agentId, caller, charged.used)
    this.#settle(hold, cost, charged)
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
    return this.#outcome(draftOf(job, agentId, caller, [], isGap ? GAP : APPENDED))
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

  #spend({ cost_usd: cost }: AppendRequest, draft: EntryDraft): void {
    if (cost === undefined) return
    const { recordedAt } = this.#scope
    this.#move(agentMoves(draft.agent_id ?? draft.actor.id, recordedAt, toMicroUsd(cost), 0))
  }

  #settle(hold: SpendHoldRow, cost: number, charged: Settled): void {
    const { recordedAt } = this.#scope
    const moves = settleHold(hold, cost, recordedAt)
    const isOver = heldAt(hold, recordedAt) === 0
    this.#move(moves, isOver ? moves.filter(({ held }) => held === 0) : moves)
    this.#move(charged.moves, charged.counted)
    const settled = { ...hold, state: 'settled' as const, charges: null, charges_until: null }
    this.#holds.set(hold.decision_id, settled)
    this.settled.push(settled)
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
  { cost_usd: cost, settle }: AppendRequest,
  { held_micro }: Pick<SpendHoldRow, 'held_micro'>,
): number => (settle === 'release' ? 0 : (cost ?? fromMicroUsd(held_micro)))

/** The amount of a settlement in a unit; undefined if it is the held one. */
const amountsOf =
  ({ amounts = {}, cost_usd, settle }: AppendRequest) =>
  (unit: string): number | undefined => {
    if (settle === 'release') return 0
    if (unit === 'usd') return cost_usd
    return Object.hasOwn(amounts, unit) ? amounts[unit] : undefined
  }

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

/** The agent that an append names as its actor, which spends as one that it names as its agent. */
function agentIn({ actor }: AppendRequest): string | null {
  if (typeof actor === 'object') return actor.type === 'agent' ? actor.id : null
  return actor ?? null
}

const APPENDED = 'entry.appended'
/** Something ran without an allow. */
const GAP = 'enforcement.gap'

/** No member of the request chooses the kind of its entry, so none can look like the server's own. */
function draftOf(
  job: AppendRequest,
  agentId: string | null,
  caller: Caller | null,
  charges: ChargesUsed = [],
  kind: typeof APPENDED | typeof GAP = job.decision_id === null ? GAP : APPENDED,
): EntryDraft {
  return {
    kind,
    actor: actorOf(job.actor, agentId, caller?.principal.id ?? null),
    agent_id: agentId,
    action: job.action,
    resource: resourceText(job.resource),
    data: dataOf(job, caller?.principal ?? null, charges),
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
function dataOf(
  job: AppendRequest,
  principal: Principal | null,
  charges: ChargesUsed,
): EntryData<typeof APPENDED> {
  const {
    amounts,
    cost_usd,
    decision_id,
    metadata,
    occurred_at,
    outcome,
    resource,
    settle,
    trace_id,
  } = job
  const properties = typeof resource === 'object' ? resource.properties : undefined
  return {
    ...(amounts !== undefined && { amounts }),
    ...(charges.length > 0 && { charges: [...charges] }),
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
