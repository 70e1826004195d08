import { trust } from '@remit/contract'
import { fail, invalid, pageOf } from '@remit/core/base'
import { actorOf, ownAgent, personOf } from '@remit/core/caller'
import { implement, Reply } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import { receipted, recording, toClientError } from '@remit/core/ledger/lanes'
import type { CompiledCondition, Deps } from '@remit/core/module'
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
      return writer.change(caller.orgId, request, async (scope, admitted) => {
        const { tx, orgId, now, recordedAt } = scope
        if ((await countTrust(tx, orgId)) >= MAX_POLICIES) throw fail('too_many_trust_policies')
        const id = ids.next('tru_', now)
        const made = { org_id: orgId, id, created_at: recordedAt }
        const row = toRow(body, { ...made, created_by: actorOf(admitted).id })
        await insertTrust(tx, row)
        const policy = toPolicy(row)
        const data = { policy, ...personOf(admitted) }
        return receipted(
          [{ kind: 'trust_policy.created', actor: actorOf(admitted), data }],
          { ...policy, warnings: warningsAt(now) },
          (answer) => new Reply(answer),
        )
      })
    },

    deleteTrustPolicy: ({ params }, caller, request) =>
      writer.change(caller.orgId, request, async ({ tx, orgId }, admitted) => {
        const row = await deleteTrust(tx, orgId, params.policyID)
        if (!row) throw fail('trust_policy_not_found')
        const data = { policy: toPolicy(row), ...personOf(admitted) }
        return recording({ kind: 'trust_policy.deleted', actor: actorOf(admitted), data })
      }),

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

function admit(text: string | null, { offered }: Pick<Deps, 'offered'>): CompiledCondition | null {
  if (text === null) return null
  const conditions = offered('conditions')
  if (!conditions) throw invalid('condition', 'is not available on this server')
  return conditions.admit(text, 'condition', TRUST_VARIABLES)
}
