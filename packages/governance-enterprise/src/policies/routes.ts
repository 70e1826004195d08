import { policies } from '@remit/contract'
import type { PolicyChange } from '@remit/contract'
import { fail, implement, invalid, pageOf, Reply } from '@remit/core'
import type { Deps, RequestInfo, Route } from '@remit/core'
import { admitCondition } from '../rules/admit-condition.ts'
import { ruleWarnings } from '../rules/lint.ts'
import { createPolicy, deletePolicy, replacePolicy } from './changes.ts'
import type { AdmittedPolicy } from './changes.ts'
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
      const admitted = admit(body)
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

    replacePolicy: ({ params, body }, caller, request) => {
      const revision = versionOf(request)
      return writer.change(
        caller.orgId,
        { ...request, caller },
        replacePolicy(params.policyID, revision, admit(body)),
      )
    },

    deletePolicy: ({ params, query }, caller, request) =>
      writer.change(
        caller.orgId,
        { ...request, caller },
        deletePolicy(params.policyID, query.change_reason),
      ),
  })

function admit({ change_reason: reason, ...input }: PolicyChange): AdmittedPolicy {
  const condition = admitCondition(input.condition)
  const warnings = (now: number) => ruleWarnings(ruleOf(input, '', condition), input.effect, now)
  return { input, reason, warnings }
}

const tagOf = (revision: number) => ({ ETag: `"${revision}"` })

/** The revision in `If-Match`. Throws `precondition_required` without one. */
function versionOf(request: RequestInfo): number {
  const text = request.header('if-match')
  if (text === undefined)
    throw fail('precondition_required', 'Send If-Match with the ETag of the policy')
  const [, revision] = /^"(\d{1,15})"$/.exec(text) ?? []
  if (revision === undefined) throw invalid('If-Match', 'must be the ETag of the policy')
  return Number(revision)
}
