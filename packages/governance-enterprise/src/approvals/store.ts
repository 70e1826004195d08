import { isoTime } from '@remit/core/base'
import { on, orgTable } from '@remit/core/db'
import type { AnyDatabase, BulkInsert } from '@remit/core/db'
import type { ExpressionBuilder } from 'kysely'
import type { Tables } from '../tables/schema.ts'
import { canBecome } from './lifecycle.ts'
import type { Status } from './lifecycle.ts'
import type { ApprovalRequestRow } from '../tables/approvals.ts'

const rows = (db: AnyDatabase) => on<Tables>(db).selectFrom('approval_request').selectAll()

export const { find: findRequest, change: changeRequest } = orgTable<Tables, 'approval_request'>(
  'approval_request',
  'id',
)

/**
 * Requests with these bindings that are in effect at a time: pending, usable, or in the cooldown
 * after a rejection.
 */
export async function findEffective(
  db: AnyDatabase,
  orgId: string,
  hashes: readonly string[],
  now: number,
): Promise<ApprovalRequestRow[]> {
  if (hashes.length === 0) return []
  return rows(db)
    .where('org_id', '=', orgId)
    .where('binding_hash', 'in', hashes)
    .where('counts_until', '>', isoTime(now))
    .orderBy('id')
    .execute()
}

/** The number of pending requests per agent at a time. */
export async function countPending(
  db: AnyDatabase,
  orgId: string,
  agents: readonly string[],
  now: number,
): Promise<Map<string, number>> {
  if (agents.length === 0) return new Map()
  const found = await on<Tables>(db)
    .selectFrom('approval_request')
    .select((one) => ['agent_id', one.fn.countAll<number>().as('pending')])
    .where('org_id', '=', orgId)
    .where('agent_id', 'in', agents)
    .where('status', '=', 'pending')
    .where('counts_until', '>', isoTime(now))
    .groupBy('agent_id')
    .execute()
  return new Map(found.map(({ agent_id, pending }) => [agent_id, pending]))
}

/** Expired requests of an organization whose expiry is not recorded yet. */
export const findExpired = (
  db: AnyDatabase,
  orgId: string,
  now: number,
  limit: number,
): Promise<ApprovalRequestRow[]> =>
  rows(db)
    .where('org_id', '=', orgId)
    .where('status', 'in', ['pending', 'approved'])
    .where('counts_until', '<=', isoTime(now))
    .orderBy('counts_until')
    .limit(limit)
    .execute()

export interface ListQuery {
  readonly limit: number
  readonly status?: Status | undefined
  readonly agentId?: string | undefined
  /** The last id of the previous page. */
  readonly before?: string | undefined
}

/** Requests by status at a time, newest first. */
export async function listRequests(
  db: AnyDatabase,
  orgId: string,
  now: number,
  { limit, status, agentId, before }: ListQuery,
): Promise<ApprovalRequestRow[]> {
  let query = rows(db).where('org_id', '=', orgId).orderBy('id', 'desc').limit(limit)
  if (agentId !== undefined) query = query.where('agent_id', '=', agentId)
  if (before !== undefined) query = query.where('id', '<', before)
  if (status !== undefined) query = query.where((one) => hasStatus(one, status, isoTime(now)))
  return query.execute()
}

/** `statusAt` in SQL. */
function hasStatus(
  one: ExpressionBuilder<Tables, 'approval_request'>,
  status: Status,
  now: string,
) {
  if (status === 'pending' || status === 'approved')
    return one.and([one('status', '=', status), one('counts_until', '>', now)])
  if (status !== 'expired') return one('status', '=', status)
  const runOut = one.and([
    one('status', 'in', ['pending', 'approved']),
    one('counts_until', '<=', now),
  ])
  return one.or([one('status', '=', 'expired'), runOut])
}

const COLUMNS = {
  org_id: 'text',
  id: 'text',
  status: 'text',
  agent_id: 'text',
  action: 'text',
  resource: 'text',
  context: 'text',
  acting_for: 'text',
  binding: 'text',
  binding_hash: 'text',
  bound: 'text',
  requirements: 'text',
  votes: 'text',
  approval_ttl_seconds: 'bigint',
  cooldown_seconds: 'bigint',
  requester_type: 'text',
  requester_id: 'text',
  requester_person: 'text',
  further_askers: 'text',
  decision_id: 'text',
  consumed_by: 'text',
  requested_at: 'text',
  expires_at: 'text',
  decided_at: 'text',
  usable_until: 'text',
  closed_at: 'text',
  counts_until: 'text',
} as const satisfies Record<keyof ApprovalRequestRow, 'text' | 'bigint'>

export const newRequests = (requests: readonly ApprovalRequestRow[]): BulkInsert => ({
  table: 'approval_request',
  columns: COLUMNS,
  rows: requests,
})

type Change = Partial<
  Pick<
    ApprovalRequestRow,
    'votes' | 'decided_at' | 'usable_until' | 'closed_at' | 'consumed_by' | 'counts_until'
  >
>

/**
 * Changes the status of a request that was read under the organization's lock; returns the new row.
 * Throws if the status changed meanwhile, so that the transaction is rolled back.
 */
export async function moveRequest(
  db: AnyDatabase,
  row: ApprovalRequestRow,
  to: Status,
  change: Change,
): Promise<ApprovalRequestRow> {
  const isVote = row.status === 'pending' && to === 'pending'
  if (!isVote && !canBecome(row.status, to))
    throw new Error(`an approval that is ${row.status} cannot become ${to}`)
  const { org_id: orgId, id, status } = row
  if (!(await changeRequest(db, orgId, id, { ...change, status: to }, { status })))
    throw new Error(`the approval ${id} is no longer ${status}`)
  return { ...row, ...change, status: to }
}

export const {
  find: findRule,
  list: listRules,
  put: putRule,
  remove: deleteRule,
} = orgTable<Tables, 'approval_rule'>('approval_rule', 'id')
