import { hash } from 'node:crypto'
import { approvals } from '@remit/contract'
import type { Approval, ApprovalRule, ApprovalRuleInput, ApprovalDecision } from '@remit/contract'
import { existing, fail, Failure, invalid, pageOf } from '@remit/core/base'
import { actAs, isOwn, ownAgent, actorOf, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { implement, Reply } from '@remit/core/http'
import type { Route, Handler, ApiRequest } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import { on } from '@remit/core/db'
import type { CoreTables, LedgerEntryRow } from '@remit/core/db'
import { wireEntry } from '@remit/core/ledger/records'
import { sql } from 'kysely'
import { findOrganizationById } from '@remit/core/orgs'
import { settingsOf } from '@remit/core/orgs/settings'
import { receipted, recording } from '@remit/core/ledger/lanes'
import type { Change, Outcome, LedgerScope } from '@remit/core/ledger/lanes'
import { eventStream, eventOf, Bell, lastEventId } from '../streams/event-stream.ts'
import type { EventSource, ConnectionLimits } from '../streams/event-stream.ts'
import { statusAt, endOf } from './lifecycle.ts'
import { wireApproval, approvalEntry } from './request.ts'
import type { ApprovalKind, ApprovalMore } from './request.ts'
import {
  findRequest,
  listRequests,
  moveRequest,
  deleteRule,
  findRule,
  listRules,
  putRule,
} from './store.ts'
import type { ApprovalRequestRow } from '../tables/approvals.ts'
import type { DecisionWaiters } from './decision-waiters.ts'
import { APPROVALS_TOPIC } from './stage.ts'
import { admitKey, voterOf, whyNot, castVote, peopleOf } from './vote.ts'
import type { People, VoteSettings } from './vote.ts'
import { actionHints } from '../rules/seen-actions.ts'
import { checkRule, storedRule, wireRule } from './rule.ts'

/** `places` limits waits and streams; `waits` signals decisions. */
export const approvalRoutes = (
  deps: Deps,
  waits: DecisionWaiters,
  places: ConnectionLimits,
): Route[] => {
  const { db, clock, ledger, writer } = deps
  const people = peopleOf(deps)
  const shown = async (caller: Caller, rows: readonly ApprovalRequestRow[]) => {
    const now = clock.now()
    const eligible = await eligibilityOf({ db, people, now }, caller, rows)
    return rows.map((row, i) => ({ ...wireApproval(row, now), ...eligible[i] }))
  }
  const one = async (caller: Caller, row: ApprovalRequestRow) => {
    const [approval] = await shown(caller, [row])
    return approval ?? wireApproval(row, clock.now())
  }
  const requestOf = async (caller: Caller, id: string) => {
    const row = await findRequest(db, caller.orgId, id)
    if (!row || !isOwn(caller, row.agent_id)) throw fail('approval_not_found')
    return row
  }
  return implement(approvals, {
    ...ruleHandlers(deps),

    listApprovals: async ({ query: { limit: most, cursor, status, agent_id: asked } }, caller) => {
      actAs(caller, asked)
      const agentId = ownAgent(caller) ?? asked
      const now = clock.now()
      return pageOf(most, {
        read: (limit) =>
          listRequests(db, caller.orgId, now, { limit, before: cursor, status, agentId }),
        cursor: ({ id }) => id,
        items: (rows) => shown(caller, rows),
      })
    },

    getApproval: async ({ params: { id }, query: { wait } }, caller, request) => {
      const row = await requestOf(caller, id)
      if (wait === 0 || statusAt(row, clock.now()) !== 'pending') return one(caller, row)
      const leave = places.take(caller)
      try {
        await waits.until(caller.orgId, id, wait * 1000, request.signal())
      } finally {
        leave()
      }
      await request.recheck()
      return one(caller, await requestOf(caller, id))
    },

    streamApprovals: async ({ query }, caller, request) => {
      const { size } = await ledger.end(caller.orgId)
      const after = Math.min(lastEventId(request) ?? query.after_seq ?? size - 1, size - 1)
      const stream = eventStream(deps, approvalEvents(deps, caller.orgId), {
        orgId: caller.orgId,
        after,
        over: request.signal(),
        recheck: () => request.recheck(),
        onEnd: places.take(caller),
      })
      // Proxies that buffer responses would delay the events.
      return new Reply<string>(stream, { headers: { 'X-Accel-Buffering': 'no' } })
    },

    decideApproval: ({ params, body }, caller, request) =>
      writer.work(caller.orgId, request, decideApproval(people, params.requestID, body)),

    cancelApproval: ({ params }, caller, request) =>
      writer.work(caller.orgId, request, cancelApproval(params.id)),

    revokeApproval: ({ params }, caller, request) =>
      writer.work(caller.orgId, request, revokeApproval(params.id)),
  })
}

/** Milliseconds between two polls without a signal. */
const LOOK_MS = 5_000
/** Few, because an entry has up to 64 KiB of context. */
const PIECE = 20

/** The organization's `approval.*` entries. */
function approvalEvents(
  { db, ledger, signals }: Pick<Deps, 'db' | 'ledger' | 'signals'>,
  orgId: string,
): EventSource {
  const bell = new Bell()
  const stop = signals.subscribe(APPROVALS_TOPIC, (org) => {
    if (org === orgId) bell.ring()
  })
  return {
    async read(after, over) {
      const rows = await ledger.paced(orgId, () => readEntries(db, orgId, after), over)
      const events = rows.map((row) => eventOf(row, wireEntry(row)))
      return { events, last: rows.at(-1)?.seq ?? after, hasMore: rows.length === PIECE }
    },
    wait: (over) => bell.wait(LOOK_MS, over),
    close: stop,
  }
}

/** The condition on the kind must equal that of the index `ledger_entry_approvals`. */
const readEntries = (db: Deps['db'], orgId: string, after: number): Promise<LedgerEntryRow[]> =>
  on<CoreTables>(db)
    .selectFrom('ledger_entry')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('seq', '>', after)
    .where(sql<boolean>`kind >= 'approval.' and kind < 'approval/'`)
    .orderBy('seq')
    .limit(PIECE)
    .execute()

/** Returns true if the endpoint that decides would now accept a vote of the caller. */
type Eligibility = Required<Pick<Approval, 'can_vote' | 'why_not'>>

const DECIDING: ReadonlySet<string> = new Set(['admin', 'approver'])

/** Returns the eligibility of a caller for each of some requests, in order. */
async function eligibilityOf(
  { db, people, now }: Pick<Deps, 'db'> & { readonly people: People; readonly now: number },
  caller: Caller,
  rows: readonly ApprovalRequestRow[],
): Promise<Eligibility[]> {
  const { principal, orgId } = caller
  if (principal.type === 'credential')
    return rows.map(() => no('The credential of an agent cannot decide'))
  if (!DECIDING.has(principal.role))
    return rows.map(() =>
      no(`The role ${principal.role} cannot decide; the roles admin and approver can`),
    )
  const voter = await voterOf(principal, undefined, people.finder(db, orgId))
  const settings = settingsOf(await findOrganizationById(db, orgId))
  const partiesOf = await people.parties(db, rows, settings.four_eyes)
  return rows.map((row) => {
    const refused = refusalOf(caller, row, settings)
    const reason = refused ?? whyNot(row, partiesOf(row), voter, now)
    return reason === null ? { can_vote: true, why_not: null } : no(reason)
  })
}

const no = (reason: string): Eligibility => ({ can_vote: false, why_not: reason })

function refusalOf(caller: Caller, row: ApprovalRequestRow, settings: VoteSettings): string | null {
  try {
    admitKey(caller, row, settings)
    return null
  } catch (error) {
    if (error instanceof Failure) return error.message
    throw error
  }
}

type RuleEndpoints =
  | 'listApprovalRules'
  | 'getApprovalRule'
  | 'setApprovalRule'
  | 'removeApprovalRule'
type RuleHandlers = { readonly [K in RuleEndpoints]: Handler<(typeof approvals)[K]> }

const ruleHandlers = ({ db, writer }: Pick<Deps, 'db' | 'writer'>): RuleHandlers => ({
  listApprovalRules: ({ query }, { orgId }) =>
    pageOf(query.limit, {
      read: (limit) => listRules(db, orgId, { limit, after: query.cursor }),
      cursor: ({ id }) => id,
      items: (rows) => rows.map(wireRule),
    }),

  getApprovalRule: async ({ params }, caller) => {
    const row = existing(await findRule(db, caller.orgId, params.id), 'approval_rule_not_found')
    return new Reply<ApprovalRule>(wireRule(row), { headers: { ETag: tagOf(row) } })
  },

  setApprovalRule: async ({ params: { id }, body, query }, caller, request) => {
    const warnings = [...checkRule(body), ...(await actionHints(db, caller.orgId, body.actions))]
    if (query.validate === 'true')
      return new Reply({ valid: true, errors: [], warnings }, { status: 200 })
    const version = versionOf(request)
    return writer.change(caller.orgId, request, putApprovalRule(id, body, warnings, version))
  },

  removeApprovalRule: ({ params: { id } }, caller, request) =>
    writer.change(caller.orgId, request, deleteApprovalRule(id, versionOf(request))),
})

/** Creates a rule, or replaces it; `version` is the one that the caller has read. */
export const putApprovalRule =
  (
    id: string,
    body: ApprovalRuleInput,
    warnings: string[] = [],
    version: string | null = null,
  ): Change<Reply<ApprovalRule>> =>
  async ({ tx, orgId, recordedAt }, caller) => {
    const before = await findRule(tx, orgId, id)
    requireVersion(version, before)
    const row = {
      org_id: orgId,
      id,
      ...storedRule(body),
      created_at: before?.created_at ?? recordedAt,
      created_by: before?.created_by ?? actorOf(caller).id,
      updated_at: recordedAt,
    }
    await putRule(tx, row)
    const rule = wireRule(row)
    const data = { approval_rule: rule, ...personOf(caller) }
    const replaced = before ? wireRule(before) : null
    const entry = { kind: 'approval_rule.set', actor: actorOf(caller), data, replaced } as const
    const headers = {
      ETag: tagOf(row),
      ...(!before && { Location: `/v1/approval-rules/${id}` }),
    }
    return receipted(
      [entry],
      { ...rule, warnings },
      (answer) => new Reply<ApprovalRule>(answer, { status: before ? 200 : 201, headers }),
    )
  }

/** Deletes a rule. */
export const deleteApprovalRule =
  (id: string, version: string | null = null): Change<undefined> =>
  async ({ tx, orgId }, caller) => {
    const row = await findRule(tx, orgId, id)
    if (row) requireVersion(version, row)
    if (!row || !(await deleteRule(tx, orgId, id))) throw fail('approval_rule_not_found')
    const data = { approval_rule: wireRule(row), ...personOf(caller) }
    return recording({ kind: 'approval_rule.removed', actor: actorOf(caller), data })
  }

/** A hash: a rule has no count of its changes. */
const tagOf = ({ document }: { readonly document: string }): string =>
  `"${hash('sha256', document, 'base64url').slice(0, 22)}"`

/** The version in `If-Match`; null without one. */
function versionOf(request: ApiRequest): string | null {
  const text = request.header('if-match')
  if (text === undefined) return null
  if (text !== '*' && !/^"[\w-]{22}"$/.test(text))
    throw invalid('If-Match', 'must be the ETag of the approval rule, or *')
  return text
}

/** Throws `version_mismatch` unless the stored rule is the version that the caller has read. */
function requireVersion(version: string | null, row: { readonly document: string } | undefined) {
  if (version === null || (row && (version === '*' || version === tagOf(row)))) return
  throw fail('version_mismatch', 'The approval rule was changed or removed; read it again')
}

type Outcomes = Outcome<Approval>

/** A vote on a request, as work of the organization's writer. */
const decideApproval =
  (people: People, id: string, decision: ApprovalDecision): Change<Approval> =>
  async (scope, caller) => {
    const admitted = keyOf(caller)
    const { settings } = scope.organization
    admitKey(admitted, null, settings)
    const row = await requestIn(scope, id)
    const key = admitKey(admitted, row, settings)
    const { now, recordedAt, tx } = scope
    const partiesOf = await people.parties(tx, [row], settings.four_eyes)
    const voter = await voterOf(key, decision.approver, people.finder(tx, row.org_id))
    const counted = castVote(row, partiesOf(row), voter, decision, { now, at: recordedAt })
    if (counted === null) return unchanged(row, scope)
    const { vote, votes, outcome } = counted
    const text = JSON.stringify(votes)
    const moved = await moveRequest(tx, row, outcome, {
      votes: text,
      ...(outcome !== 'pending' && { decided_at: recordedAt }),
      ...(outcome === 'approved' && usableUntil(endOf(now, row.approval_ttl_seconds))),
      ...(outcome === 'rejected' && { counts_until: endOf(now, row.cooldown_seconds) }),
    })
    const kind = outcome === 'pending' ? 'approval.voted' : 'approval.decided'
    return changed(kind, moved, scope, admitted, { vote })
  }

/** Cancels a request by a requester; agents can cancel only their own. */
const cancelApproval =
  (id: string): Change<Approval> =>
  async (scope, caller) => {
    const row = await requestIn(scope, id)
    if (!isOwn(caller, row.agent_id)) throw fail('approval_not_found')
    const status = statusAt(row, scope.now)
    if (status !== 'pending') throw fail('approval_closed', `The request is ${status}`)
    const moved = await moveRequest(scope.tx, row, 'cancelled', closedAt(scope))
    return changed('approval.cancelled', moved, scope, caller, {})
  }

/** Revokes an approval that was not used. */
const revokeApproval =
  (id: string): Change<Approval> =>
  async (scope, caller) => {
    const row = await requestIn(scope, id)
    admitKey(keyOf(caller), null, { four_eyes: false, require_separate_keys: false })
    const status = statusAt(row, scope.now)
    if (status !== 'approved') throw fail('approval_not_usable', `The request is ${status}`)
    const moved = await moveRequest(scope.tx, row, 'revoked', closedAt(scope))
    return changed('approval.revoked', moved, scope, caller, {})
  }

const usableUntil = (end: string | null) => ({ usable_until: end, counts_until: end })

const closedAt = ({ recordedAt }: LedgerScope) => ({ closed_at: recordedAt, counts_until: null })

function keyOf(caller: Caller | null): Caller {
  if (!caller) throw fail('role_required', 'Only a key or a person can decide an approval request')
  return caller
}

async function requestIn({ tx, orgId }: LedgerScope, id: string): Promise<ApprovalRequestRow> {
  return existing(await findRequest(tx, orgId, id), 'approval_not_found')
}

const unchanged = (row: ApprovalRequestRow, { now }: LedgerScope): Outcomes => ({
  entries: [],
  reply: () => wireApproval(row, now),
})

function changed<Kind extends ApprovalKind>(
  kind: Kind,
  row: ApprovalRequestRow,
  { now }: LedgerScope,
  caller: Caller | null,
  more: ApprovalMore<Kind>,
): Outcomes {
  const entry = approvalEntry(kind, row, now, actorOf(caller), { ...more, ...personOf(caller) })
  return receipted([entry], wireApproval(row, now))
}
