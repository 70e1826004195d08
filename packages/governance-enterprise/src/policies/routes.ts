import { policies } from '@remit/contract'
import type { PolicyChange } from '@remit/contract'
import { fail, invalid, pageOf } from '@remit/core/base'
import { implement, Reply } from '@remit/core/http'
import type { RequestInfo, Route } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import { admitCondition } from '../rules/admit-condition.ts'
import { ruleWarnings } from '../rules/lint.ts'
import { actionHints } from '../rules/seen-actions.ts'
import { createPolicy, deletePolicy, putPolicy } from './changes.ts'
import type { AdmittedPolicy, Expected } from './changes.ts'
import { ruleOf, toPolicy } from './policy.ts'
import { findRule, listRules } from './store.ts'

export const policyRoutes = ({ db, clock, ids, writer }: Deps): Route[] =>
  implement(policies, {
    listPolicies: ({ query }, { orgId }) =>
      pageOf(query.limit, {
        read: (limit) => listRules(db, orgId, { limit, after: query.cursor }),
        cursor: ({ id }) => id,
        items: (rows) => rows.map(toPolicy),
      }),

    getPolicy: async ({ params }, { orgId }) => {
      const row = await findRule(db, orgId, params.policyID)
      if (!row) throw fail('policy_not_found')
      return new Reply(toPolicy(row), { headers: tagOf(row.revision) })
    },

    createPolicy: async ({ body, query }, caller, request) => {
      const admitted = admit(body, await actionHints(db, caller.orgId, body.actions))
      if (query.validate === 'true')
        return new Reply(
          { valid: true, errors: [], warnings: admitted.warnings(clock.now()) } as never,
          { status: 200 },
        )
      const created = await writer.change(
        caller.orgId,
        { ...request, caller },
        createPolicy(ids, admitted),
      )
      return created
    },

    replacePolicy: async ({ params, body }, caller, request) => {
      const expected = expectedBy(request)
      const admitted = admit(body, await actionHints(db, caller.orgId, body.actions))
      return writer.change(
        caller.orgId,
        { ...request, caller },
        putPolicy(ids, params.policyID, expected, admitted),
      )
    },

    deletePolicy: ({ params, query }, caller, request) =>
      writer.change(
        caller.orgId,
        { ...request, caller },
        deletePolicy(params.policyID, query.change_reason),
      ),
  })

function admit(
  { change_reason: reason, ...input }: PolicyChange,
  hints: readonly string[],
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
function expectedBy(request: RequestInfo): Expected {
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
