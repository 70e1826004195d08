import { policies } from '@remit/contract'
import { actorOf, fail, implement, pageOf, personOf, Reply } from '@remit/core'
import type { Deps, Route } from '@remit/core'
import { admitCondition } from '../rules/admit-condition.ts'
import { ruleWarnings } from '../rules/lint.ts'
import { MAX_BROAD_RULES, ruleOf, toPolicy, toRow } from './policy.ts'
import { countBroadRules, deleteRule, insertRule, listRules } from './store.ts'

export const policyRoutes = ({ db, ids, writer }: Deps): Route[] =>
  implement(policies, {
    listPolicies: ({ query }, { orgId }) =>
      pageOf(query.limit, {
        read: (limit) => listRules(db, orgId, { limit, afterId: query.cursor }),
        cursor: ({ id }) => id,
        items: (rows) => rows.map(toPolicy),
      }),

    createPolicy: ({ body }, caller, request) => {
      const condition = admitCondition(body.condition)
      return writer.change(
        caller.orgId,
        { ...request, caller },
        async ({ tx, now, recordedAt }, admitted) => {
          const id = ids.next('pol_', now)
          const made = { org_id: caller.orgId, id, created_at: recordedAt }
          const row = toRow(body, { ...made, created_by: actorOf(admitted).id })
          if (row.broad === 1 && (await countBroadRules(tx, caller.orgId)) >= MAX_BROAD_RULES)
            throw fail('too_many_broad_rules')
          await insertRule(tx, row)
          const policy = toPolicy(row)
          const warnings = ruleWarnings(ruleOf(body, id, condition), now)
          return {
            entries: [
              {
                kind: 'policy.created',
                actor: actorOf(admitted),
                data: { policy, ...personOf(admitted) },
              },
            ],
            reply: ([recorded]) =>
              new Reply(
                { ...policy, warnings, ...(recorded && { ledger: recorded.receipt }) },
                { status: 201, headers: { Location: `/v1/policies/${id}` } },
              ),
          }
        },
      )
    },

    deletePolicy: ({ params }, caller, request) =>
      writer.change(caller.orgId, { ...request, caller }, async ({ tx }, admitted) => {
        const row = await deleteRule(tx, caller.orgId, params.policyID)
        if (!row) throw fail('policy_not_found')
        return {
          entries: [
            {
              kind: 'policy.deleted',
              actor: actorOf(admitted),
              data: { policy: toPolicy(row), ...personOf(admitted) },
            },
          ],
          reply: () => undefined,
        }
      }),
  })
