import { policies } from '@remit/contract'
import type { PolicyChange, Policy, PolicyInput } from '@remit/contract'
import { existing, fail, invalid, pageOf } from '@remit/core/base'
import type { Ids } from '@remit/core/base'
import { implement, Reply } from '@remit/core/http'
import type { ApiRequest, Route } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import { actorOf, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import type { AnyDatabase } from '@remit/core/db'
import { receipted, recording } from '@remit/core/ledger/lanes'
import type { Change, EntryDraft, Outcome } from '@remit/core/ledger/lanes'
import { checkCount } from '@remit/core/orgs/settings'
import { admitCondition } from '../rules/admit-condition.ts'
import { ruleWarnings } from '../rules/lint.ts'
import { actionHints } from '../rules/seen-actions.ts'
import { ruleOf, toPolicy, MAX_BROAD_RULES, toRow } from './policy.ts'
import {
  findRule,
  listRules,
  countBroadRules,
  countRules,
  deleteRule,
  insertRule,
  updateRule,
} from './store.ts'
import type { PolicyRuleRow } from '../tables/policies.ts'

export const policyRoutes = ({ db, clock, ids, writer }: Deps): Route[] =>
  implement(policies, {
    listPolicies: ({ query }, { orgId }) =>
      pageOf(query.limit, {
        read: (limit) => listRules(db, orgId, { limit, after: query.cursor }),
        cursor: ({ id }) => id,
        items: (rows) => rows.map(toPolicy),
      }),

    getPolicy: async ({ params }, { orgId }) => {
      const row = existing(await findRule(db, orgId, params.policyID), 'policy_not_found')
      return new Reply(toPolicy(row), { headers: tagOf(row.revision) })
    },

    createPolicy: async ({ body, query }, caller, request) => {
      const admitted = admitPolicy(body, await actionHints(db, caller.orgId, body.actions))
      if (query.validate === 'true')
        return new Reply(
          { valid: true, errors: [], warnings: admitted.warnings(clock.now()) },
          { status: 200 },
        )
      return writer.change(caller.orgId, request, createPolicy(ids, admitted))
    },

    replacePolicy: async ({ params, body }, caller, request) => {
      const expected = expectedBy(request)
      const admitted = admitPolicy(body, await actionHints(db, caller.orgId, body.actions))
      return writer.change(
        caller.orgId,
        request,
        putPolicy(ids, params.policyID, expected, admitted),
      )
    },

    deletePolicy: ({ params, query }, caller, request) =>
      writer.change(caller.orgId, request, deletePolicy(params.policyID, query.change_reason)),
  })

/** Compiles the condition of a rule; throws the refusal of its endpoint. */
export function admitPolicy(
  { change_reason: reason, ...input }: PolicyChange,
  hints: readonly string[] = [],
): AdmittedPolicy {
  const condition = admitCondition(input.condition)
  const warnings = (now: number) => [
    ...ruleWarnings(ruleOf(input, '', condition), input.effect, now),
    ...hints,
  ]
  return { input, reason, warnings }
}

const tagOf = (revision: number) => ({ ETag: `"${revision}"` })

/** Reads the version that a `PUT` requires from `If-Match` and `If-None-Match`. */
function expectedBy(request: ApiRequest): Expected {
  const match = request.header('if-match')
  const none = request.header('if-none-match')
  if (none !== undefined) {
    if (none !== '*') throw invalid('If-None-Match', 'must be *, which creates a policy')
    if (match !== undefined) throw invalid('If-None-Match', 'must not be sent with If-Match')
    return 'nothing'
  }
  if (match === undefined || match === '*') return match ?? null
  const [, revision] = /^"(\d{1,15})"$/.exec(match) ?? []
  if (revision === undefined) throw invalid('If-Match', 'must be the ETag of the policy, or *')
  return Number(revision)
}

/** A rule whose condition compiles. */
interface AdmittedPolicy {
  readonly input: PolicyInput
  readonly reason: string | undefined
  /** Probable mistakes, as of a time. */
  readonly warnings: (now: number) => string[]
}

type Answer = Policy & { warnings: string[] }

/**
 * The version that a `PUT` requires: any, one revision, or no rule; `any_or_nothing`: the rule may be missing; null: no
 * rule, or a refusal that names the revision.
 */
type Expected = '*' | number | 'nothing' | 'any_or_nothing' | null

/** Creates a rule, with the id of the caller if there is one. */
const createPolicy =
  (ids: Ids, admitted: AdmittedPolicy, chosen?: string): Change<Reply<Answer>> =>
  async ({ tx, orgId, now, recordedAt, organization }, caller) => {
    const id = chosen ?? ids.next('pol_', now)
    const made = { org_id: orgId, id, created_at: recordedAt, created_by: actorOf(caller).id }
    const row = toRow(admitted.input, { ...made, updated_at: null, revision: 1 })
    await checkCount(organization, 'policies', () => countRules(tx, orgId))
    await admitBroad(tx, row, false)
    await insertRule(tx, row)
    const headers = { Location: `/v1/policies/${id}`, ETag: '"1"' }
    const more = { warnings: admitted.warnings(now), status: 201, headers }
    return changed('created', row, admitted.reason, caller, more)
  }

/** Creates a rule, or replaces the version that the caller has read, in one change. */
export const putPolicy =
  (ids: Ids, id: string, expected: Expected, admitted: AdmittedPolicy): Change<Reply<Answer>> =>
  async (scope, caller) => {
    const { tx, orgId, now, recordedAt } = scope
    const before = await findRule(tx, orgId, id)
    if (!before) {
      if (expected === '*' || typeof expected === 'number') throw fail('policy_not_found')
      return createPolicy(ids, admitted, id)(scope, caller)
    }
    const { revision } = before
    if (expected === null)
      throw fail(
        'precondition_required',
        `The policy exists. To replace it, send If-Match: "${revision}", the ETag of GET /v1/policies/${id}; to replace any version, send If-Match: *`,
      )
    if (expected === 'nothing')
      throw fail('version_mismatch', `The policy exists, with the revision ${revision}`)
    if (typeof expected === 'number' && expected !== revision)
      throw fail(
        'version_mismatch',
        `The policy has the revision ${revision}; read it again before changing it`,
      )
    const next = { ...before, updated_at: recordedAt, revision: revision + 1 }
    const row = toRow(admitted.input, next)
    await admitBroad(tx, row, before.broad === 1)
    await updateRule(tx, row)
    const headers = { ETag: `"${row.revision}"` }
    const more = { warnings: admitted.warnings(now), status: 200, headers }
    return changed('updated', row, admitted.reason, caller, { ...more, before })
  }

/** Deletes a rule. */
export const deletePolicy =
  (id: string, reason: string | undefined): Change<undefined> =>
  async ({ tx, orgId }, caller) => {
    const row = existing(await deleteRule(tx, orgId, id), 'policy_not_found')
    return recording(entryOf('deleted', row, reason, caller))
  }

/** Broad rules are evaluated for every request. */
async function admitBroad(db: AnyDatabase, row: PolicyRuleRow, wasBroad: boolean): Promise<void> {
  if (row.broad === 0 || wasBroad) return
  if ((await countBroadRules(db, row.org_id)) >= MAX_BROAD_RULES) throw fail('too_many_broad_rules')
}

function changed(
  kind: 'created' | 'updated',
  row: PolicyRuleRow,
  reason: string | undefined,
  caller: Caller | null,
  { warnings, status, headers, before }: ChangedOptions,
): Outcome<Reply<Answer>> {
  return receipted(
    [{ ...entryOf(kind, row, reason, caller), replaced: before ? toPolicy(before) : null }],
    { ...toPolicy(row), warnings },
    (answer) => new Reply(answer, { status, headers }),
  )
}

interface ChangedOptions {
  readonly warnings: string[]
  readonly status: number
  readonly headers: Record<string, string>
  /** The version that is replaced. */
  readonly before?: PolicyRuleRow
}

const entryOf = (
  kind: 'created' | 'updated' | 'deleted',
  row: PolicyRuleRow,
  reason: string | undefined,
  caller: Caller | null,
): EntryDraft => ({
  kind: `policy.${kind}`,
  actor: actorOf(caller),
  data: {
    policy: toPolicy(row),
    ...(reason !== undefined && { change_reason: reason }),
    ...personOf(caller),
  },
})
