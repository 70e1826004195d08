import { budgets } from '@remit/contract'
import type {
  Budget,
  BudgetChange,
  BudgetHistory,
  BudgetInput,
  ChangedBudget,
  RecordedBudget,
} from '@remit/contract'
import { fromUnits } from '@remit/contract/values'
import { existing, fail, invalid, isoTime, pageOf } from '@remit/core/base'
import { actorOf, ownAgent, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { on } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { Counters } from '@remit/core/decision'
import { implement, Reply } from '@remit/core/http'
import type { ApiRequest, Route } from '@remit/core/http'
import { receipted, recording } from '@remit/core/ledger/lanes'
import type { Change } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { checkCount } from '@remit/core/orgs/settings'
import { readCounters } from '../counters/store.ts'
import { subjectOf } from '../counters/charges.ts'
import type { BudgetRow, Tables } from '../tables/schema.ts'
import { readSamples } from './samples.ts'
import { budgetWarnings, checkBudget, checkChildless, slicesOf } from './checks.ts'
import { keptBy, needsOf, sumOf, usageOf } from './evaluate.ts'
import { deleteBudget, findBudget, listBudgets, putBudget } from './store.ts'
import { inputOf, isOfAgent, treeOf } from './tree.ts'
import type { BudgetTree, Node, Step } from './tree.ts'
import type { LoadTree } from './store.ts'
import { timeOf } from './windows.ts'

type BudgetDeps = Pick<Deps, 'db' | 'clock' | 'ids' | 'writer' | 'offered'>

export function budgetRoutes(deps: BudgetDeps, loadTree: LoadTree): Route[] {
  const { db, clock, writer, offered } = deps
  const rowOf = async (caller: Caller, id: string): Promise<BudgetRow> => {
    const row = existing(await findBudget(db, caller.orgId, id), 'budget_not_found')
    const agent = ownAgent(caller)
    if (agent !== null && (await ofAgent([row], caller.orgId, agent)).length === 0)
      throw fail('budget_not_found')
    return row
  }
  const ofAgent = async (rows: readonly BudgetRow[], orgId: string, agentId: string) => {
    const tree = await loadTree(db, orgId)
    return rows.filter(({ uid }) => {
      const node = tree?.byUid.get(uid)
      return tree && node && isOfAgent(tree, node, agentId)
    })
  }
  return implement(budgets, {
    async listBudgets({ query }, caller) {
      const { orgId } = caller
      const all = await listBudgets(db, orgId)
      const agent = ownAgent(caller) ?? query.agent_id
      const visible = agent === undefined ? all : await ofAgent(all, orgId, agent)
      const found = visible.filter(
        (row) =>
          (query.parent_id === undefined || row.parent_id === query.parent_id) &&
          (query.unit === undefined || inputOf(row).unit === query.unit) &&
          (query.cursor === undefined || row.id > query.cursor),
      )
      return pageOf(query.limit, {
        read: (limit) => found.slice(0, limit),
        cursor: ({ id }) => id,
        items: (rows) => withUsage(db, rows, all, clock.now()),
      })
    },

    async getBudget({ params }, caller) {
      const row = await rowOf(caller, params.id)
      const all = await listBudgets(db, caller.orgId)
      const [budget] = await withUsage(db, [row], all, clock.now())
      if (!budget) throw fail('budget_not_found')
      return new Reply(budget, { headers: tagOf(row) })
    },

    async getBudgetUsage({ params, query }, caller) {
      const row = await rowOf(caller, params.id)
      const now = clock.now()
      const time = timeOf(inputOf(row), now)
      return pageOf(query.limit, {
        read: (limit) =>
          usedSubjects(
            db,
            row,
            time.parts.map(({ id }) => id),
            limit,
            query.cursor,
          ),
        // The suffix of the counter's name: empty for requests without a value, otherwise `/` and the value.
        cursor: (subject) => `:${subject.slice(subjectOf(row.uid).length)}`,
        items: async (subjects) => {
          const [node] = nodesOf([row], [row])
          if (!node) return []
          const steps = subjects.map((subject) => ({ node, subject, time }))
          const counters = await readStanding(db, row.org_id, steps, now)
          return steps.map((step) => {
            const { kept: _, ...usage } = usageOf(step, counters)
            return { value: valueIn(row, step.subject), ...usage }
          })
        },
      })
    },

    getBudgetHistory: async ({ params }, caller) =>
      historyOf(db, await rowOf(caller, params.id), clock.now()),

    async setBudget({ params, body, query }, caller, request) {
      const { change_reason: reason, ...input } = body
      const expected = expectedBy(request)
      if (query.validate === 'true') {
        const rows = await listBudgets(db, caller.orgId)
        requireFree(params.id)
        requireRevision(rows, params.id, expected)
        checkBudget(rows, params.id, input)
        const hasRegistry = offered('agentRegistry') !== undefined
        const warnings = budgetWarnings(rows, params.id, input, hasRegistry)
        return new Reply({ valid: true, errors: [], warnings }, { status: 200 })
      }
      const change = setBudget(deps, params.id, input, expected, reason)
      return writer.change(caller.orgId, request, change)
    },

    removeBudget: ({ params }, caller, request) =>
      writer.change(caller.orgId, request, removeBudget(params.id)),
  })
}

const tagOf = ({ revision }: Pick<BudgetRow, 'revision'>) => ({ ETag: `"${revision}"` })

/** The revision that a `PUT` requires by `If-Match`; `*` for any; null for none, or a new budget. */
function expectedBy(request: ApiRequest): Expected {
  const match = request.header('if-match')
  if (match === undefined || match === '*') return match ?? null
  const [, revision] = /^"(\d{1,15})"$/.exec(match) ?? []
  if (revision === undefined) throw invalid('If-Match', 'must be the ETag of the budget, or *')
  return Number(revision)
}

type Expected = number | '*' | null

/** Throws for ids of the caps of spend limits, which have endpoints of their own. */
export function requireFree(id: string): void {
  if (id.startsWith('spend:'))
    throw fail('budget_fixed', 'Ids that begin with spend: are those of spend limits')
}

/** Returns the budget that a change replaces, if there is one; throws if it is not the expected one. */
function requireRevision(
  rows: readonly BudgetRow[],
  id: string,
  expected: Expected,
): BudgetRow | undefined {
  const before = rows.find((row) => row.id === id)
  if (!before && expected !== null) throw fail('budget_not_found')
  if (before && typeof expected === 'number' && expected !== before.revision)
    throw fail(
      'version_mismatch',
      `The budget has the revision ${before.revision}; read it again before changing it`,
    )
  return before
}

/** Creates or replaces a budget. With `isChecked`, it is not checked again among others. */
export const setBudget =
  (
    { ids, offered }: Pick<Deps, 'ids' | 'offered'>,
    id: string,
    input: BudgetInput,
    expected: Expected,
    reason?: BudgetChange['change_reason'],
    isChecked = false,
  ): Change<Reply<ChangedBudget>> =>
  async ({ tx, orgId, now, recordedAt, organization }, caller) => {
    requireFree(id)
    const rows = await listBudgets(tx, orgId)
    const before = requireRevision(rows, id, expected)
    if (!before) await checkCount(organization, 'budgets', () => Promise.resolve(rows.length))
    if (!isChecked) checkBudget(rows, id, input)
    const row: BudgetRow = {
      org_id: orgId,
      id,
      uid: before?.uid ?? ids.next('bud_', now),
      parent_id: input.parent_id,
      document: JSON.stringify(input),
      revision: (before?.revision ?? 0) + 1,
      created_at: before?.created_at ?? recordedAt,
      created_by: before?.created_by ?? actorOf(caller).id,
      updated_at: recordedAt,
    }
    await putBudget(tx, row)
    const all = [...rows.filter((one) => one.id !== id), row]
    const [budget] = await withUsage(tx, [row], all, now)
    if (!budget) throw fail('budget_not_found')
    const warnings = [
      ...budgetWarnings(all, id, input, offered('agentRegistry') !== undefined),
      ...(await uncoveredSlices(tx, row, all, now)),
    ]
    const data = {
      budget: recordedBudget(row),
      ...(reason !== undefined && { change_reason: reason }),
      ...personOf(caller),
    }
    const headers = { ...tagOf(row), ...(!before && { Location: `/v1/budgets/${id}` }) }
    return receipted(
      [
        {
          kind: 'budget.set',
          actor: actorOf(caller),
          data,
          ...(before && { replaced: recordedBudget(before) }),
        },
      ],
      { ...budget, warnings },
      (answer) => new Reply<ChangedBudget>(answer, { headers, ...(before && { status: 200 }) }),
    )
  }

/** Removes a budget with its counters; its charges are dropped when their holds are settled. */
export const removeBudget =
  (id: string): Change<undefined> =>
  async ({ tx, orgId }, caller) => {
    requireFree(id)
    checkChildless(await listBudgets(tx, orgId, { where: { parent_id: id } }), id)
    const row = existing(await deleteBudget(tx, orgId, id), 'budget_not_found')
    for (const table of ['spend_total', 'spend_hour'] as const)
      await on<Tables>(tx)
        .deleteFrom(table)
        .where('org_id', '=', orgId)
        .where((of) =>
          of.or([
            of.and(rangeOf(row).map(([operator, text]) => of('agent_id', operator, text))),
            of('agent_id', '=', `*values/${row.uid}`),
          ]),
        )
        .execute()
    const data = { budget: recordedBudget(row), ...personOf(caller) }
    return recording({ kind: 'budget.removed', actor: actorOf(caller), data })
  }

/** The counters of a budget and of all its values: `/` is followed by `0`. */
const rangeOf = ({ uid }: Pick<BudgetRow, 'uid'>) =>
  [
    ['>=', subjectOf(uid)],
    ['<', `${subjectOf(uid)}0`],
  ] as const

/** A budget in API form, without its usage. */
const wireBudget = (row: BudgetRow): Omit<Budget, 'usage'> => ({
  id: row.id,
  ...inputOf(row),
  revision: row.revision,
  created_at: row.created_at,
  created_by: row.created_by,
  updated_at: row.updated_at,
})

const recordedBudget = (row: BudgetRow): RecordedBudget => ({ ...wireBudget(row), uid: row.uid })

/** Compiles rows with those around them. */
function nodesOf(rows: readonly BudgetRow[], all: readonly BudgetRow[]): Node[] {
  const tree: BudgetTree | null = treeOf({ rows: all, registry: null, mayEnd: false })
  return rows.flatMap(({ uid }) => tree?.byUid.get(uid) ?? [])
}

type Standing = Pick<Step, 'node' | 'subject' | 'time'>

/** Reads the counters of budgets and of the children that they keep slices for. */
const readStanding = (
  db: AnyDatabase,
  orgId: string,
  steps: readonly Standing[],
  now: number,
): Promise<Counters> =>
  readCounters(
    needsOf(
      steps.map((step) => ({ ...step, value: undefined })),
      true,
    ),
    {
      tx: db,
      orgId,
      now,
    },
  )

const standingOf = (node: Node, now: number): Standing => ({
  node,
  subject: node.subject,
  time: timeOf(node, now),
})

/** Budgets in API form; expired holds do not count. */
async function withUsage(
  db: AnyDatabase,
  rows: readonly BudgetRow[],
  all: readonly BudgetRow[],
  now: number,
): Promise<Budget[]> {
  const [first] = rows
  if (!first) return []
  const steps = nodesOf(rows, all).map((node) => standingOf(node, now))
  const shared = steps.filter(({ node }) => node.per === null)
  const counters = await readStanding(db, first.org_id, shared, now)
  return rows.map((row) => {
    const step = shared.find(({ node }) => node.uid === row.uid)
    if (!step) return { ...wireBudget(row), usage: null }
    const { id: window, from } = step.time
    const start = from === null ? row.created_at : isoTime(from)
    return { ...wireBudget(row), usage: { window, from: start, ...usageOf(step, counters) } }
  })
}

/** Warns of a budget, or of the parent of a slice, that has less left than its slices need in this window. */
async function uncoveredSlices(
  db: AnyDatabase,
  row: BudgetRow,
  all: readonly BudgetRow[],
  now: number,
): Promise<string[]> {
  const placed = all.map((one) => ({ ...inputOf(one), id: one.id }))
  const parents = new Set([row.id, ...(inputOf(row).reserved ? [row.parent_id] : [])])
  const keeping = all.filter((one) => parents.has(one.id) && slicesOf(one, placed).length > 0)
  const steps = nodesOf(keeping, all).map((node) => standingOf(node, now))
  const counters = await readStanding(db, row.org_id, steps, now)
  return steps.flatMap(({ node, subject, time }) => {
    const { used, held } = sumOf(counters, subject, time)
    const lacking = keptBy(node, counters, time) - (node.counted - used - held)
    return lacking > 0 ? [`slice_not_covered: ${fromUnits(node.unit, lacking)} ${node.unit}`] : []
  })
}

/** Counters of a budget with something in the windows, in order of their values. */
async function usedSubjects(
  db: AnyDatabase,
  row: BudgetRow,
  windows: readonly string[],
  limit: number,
  cursor: string | undefined,
): Promise<string[]> {
  if (inputOf(row).per === null) return cursor === undefined ? [subjectOf(row.uid)] : []
  const [, below] = rangeOf(row)
  const rows = await on<Tables>(db)
    .selectFrom('spend_total')
    .select('agent_id')
    .distinct()
    .where('org_id', '=', row.org_id)
    .where(
      'agent_id',
      cursor === undefined ? '>=' : '>',
      `${subjectOf(row.uid)}${cursor?.slice(1) ?? ''}`,
    )
    .where('agent_id', below[0], below[1])
    .where('window_id', 'in', windows)
    .orderBy('agent_id')
    .limit(limit)
    .execute()
  return rows.map(({ agent_id }) => agent_id)
}

const valueIn = ({ uid }: Pick<BudgetRow, 'uid'>, subject: string): string | null =>
  subject === subjectOf(uid) ? null : subject.slice(subjectOf(uid).length + 1)

/** The hourly samples of a budget, and its state now. */
async function historyOf(db: AnyDatabase, row: BudgetRow, now: number): Promise<BudgetHistory> {
  const { per, unit, limit } = inputOf(row)
  const [node] = nodesOf([row], [row])
  if (per !== null || !node) return { data: [], limit }
  const step = standingOf(node, now)
  const current = usageOf(step, await readStanding(db, row.org_id, [step], now))
  const lastHour = isoTime(now - 3_600_000).slice(0, 13)
  const samples = await readSamples(db, row.org_id, subjectOf(row.uid), '', lastHour)
  const points = samples.map(({ hour, spent_micro: used, held_micro: held }) => ({
    at: isoTime(Date.parse(`${hour}:00:00Z`) + 3_600_000),
    used: fromUnits(unit, used),
    held: fromUnits(unit, held),
  }))
  return { data: [...points, { at: isoTime(now), used: current.used, held: current.held }], limit }
}
