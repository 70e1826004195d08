import { trust } from '@remit/contract'
import type { DocumentSpec, Receipt, TrustPolicy, TrustPolicyInput } from '@remit/contract'
import { fail, invalid, pageOf } from '@remit/core/base'
import { actorOf, ownAgent, personOf } from '@remit/core/caller'
import { implement, Reply } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import { answering, receipted, recording, toClientError } from '@remit/core/ledger/lanes'
import type { Change, EntryData } from '@remit/core/ledger/lanes'
import type { CompiledCondition, Deps, DocumentKind } from '@remit/core/module'
import { trustLane } from './lane.ts'
import {
  toPolicy,
  toRow,
  TRUST_VARIABLES,
  countTrust,
  deleteTrust,
  insertTrust,
  listTrust,
} from './policy.ts'

// Each of them is evaluated for every request.
const MAX_POLICIES = 1_000

export function trustRoutes(deps: Deps): Route[] {
  const { db, clock, ids, writer } = deps
  const lane = trustLane(deps)
  return implement(trust, {
    listTrustPolicies: ({ query }, { orgId }) =>
      pageOf(query.limit, {
        read: (limit) => listTrust(db, orgId, { limit, after: query.cursor }),
        cursor: ({ id }) => id,
        items: (rows) => rows.map(toPolicy),
      }),

    createTrustPolicy: async ({ body, query }, caller, request) => {
      const condition = admit(body.condition, deps)
      const warningsAt = (now: number) => [
        ...(body.expires_at !== null && Date.parse(body.expires_at) <= now
          ? ['the policy has already expired']
          : []),
        ...(condition?.warnings[body.effect] ?? []),
      ]
      if (query.validate === 'true')
        return new Reply(
          { valid: true, errors: [], warnings: warningsAt(clock.now()) },
          { status: 200 },
        )
      return writer.change(
        caller.orgId,
        request,
        answering(
          (scope, admitted) =>
            createTrustPolicy(ids.next('tru_', scope.now), body)(scope, admitted),
          (policy) => new Reply({ ...policy, warnings: warningsAt(clock.now()) }),
        ),
      )
    },

    deleteTrustPolicy: ({ params }, caller, request) =>
      writer.change(caller.orgId, request, deleteTrustPolicy(params.policyID)),

    evaluateTrust: async ({ body }, caller, request) => {
      const own = ownAgent(caller)
      if (own !== null && own !== body.source_agent_id && own !== body.target_agent_id)
        throw fail(
          'agent_mismatch',
          `This credential belongs to ${own}; one of the two agents must be ${own}`,
          { asked: body.source_agent_id },
        )
      try {
        return await writer.submit(lane, caller.orgId, body, request)
      } catch (error) {
        throw toClientError(error)
      }
    },
  })
}

const createTrustPolicy =
  (id: string, body: TrustPolicyInput): Change<TrustPolicy & { readonly ledger: Receipt }> =>
  async ({ tx, orgId, recordedAt }, caller) => {
    if ((await countTrust(tx, orgId)) >= MAX_POLICIES) throw fail('too_many_trust_policies')
    const made = { org_id: orgId, id, created_at: recordedAt, created_by: actorOf(caller).id }
    const row = toRow(body, made)
    await insertTrust(tx, row)
    const policy = toPolicy(row)
    const data = { policy, ...personOf(caller) }
    return receipted([{ kind: 'trust_policy.created', actor: actorOf(caller), data }], policy)
  }

const deleteTrustPolicy =
  (id: string): Change<undefined> =>
  async ({ tx, orgId }, caller) => {
    const row = await deleteTrust(tx, orgId, id)
    if (!row) throw fail('trust_policy_not_found')
    const data = { policy: toPolicy(row), ...personOf(caller) }
    return recording({ kind: 'trust_policy.deleted', actor: actorOf(caller), data })
  }

type RecordedPolicy = EntryData<'trust_policy.created'>['policy']

/** Trust policies as documents of policy sets. A replaced one is deleted and created again. */
export const trustDocuments = (
  deps: Pick<Deps, 'offered'>,
): DocumentKind<DocumentSpec<'TrustPolicy'>> => ({
  kind: 'TrustPolicy',
  idOf: (name) => name,
  list: async (db, orgId, ids) =>
    (await listTrust(db, orgId, ids ? { where: { id: ids } } : {})).map((row) => ({
      id: row.id,
      spec: trustSpec(toPolicy(row)),
    })),
  admit(name, spec) {
    const condition = admit(spec.condition, deps)
    return {
      warnings: () => condition?.warnings[spec.effect] ?? [],
      set: async (scope, caller) => {
        const before = await deleteTrust(scope.tx, scope.orgId, name)
        const { entries, reply } = await createTrustPolicy(name, spec)(scope, caller)
        if (!before) return { entries, reply }
        const data = { policy: toPolicy(before), ...personOf(caller) }
        const deleted = { kind: 'trust_policy.deleted', actor: actorOf(caller), data } as const
        return { entries: [deleted, ...entries], reply: () => undefined }
      },
    }
  },
  remove: deleteTrustPolicy,
  limits: () => [{ code: 'too_many_trust_policies', most: MAX_POLICIES, countsFor: () => ['all'] }],
  changesOf({ kind, data }) {
    if (kind !== 'trust_policy.created' && kind !== 'trust_policy.deleted') return []
    const { policy } = data
    const [before, after] = kind === 'trust_policy.created' ? [null, policy] : [policy, null]
    const specOf = (one: RecordedPolicy | null) => one && trustSpec(one)
    return [{ id: policy.id, before: specOf(before), after: specOf(after) }]
  },
})

const trustSpec = ({ id: _id, created_at: _at, created_by: _by, ...spec }: RecordedPolicy) => spec

function admit(text: string | null, { offered }: Pick<Deps, 'offered'>): CompiledCondition | null {
  if (text === null) return null
  const conditions = offered('conditions')
  if (!conditions) throw invalid('condition', 'is not available on this server')
  return conditions.admit(text, 'condition', TRUST_VARIABLES)
}
