import { hash } from 'node:crypto'
import type { ApprovalRule, approvals } from '@remit/contract'
import { fail, invalid, pageOf } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import { Reply } from '@remit/core/http'
import type { Handler, RequestInfo } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import { actionHints } from '../rules/seen-actions.ts'
import { checkRule, wireRule } from './rule.ts'
import { deleteRule, findRule, listRules, putRule } from './rules-store.ts'

type RuleEndpoints =
  | 'listApprovalRules'
  | 'getApprovalRule'
  | 'setApprovalRule'
  | 'removeApprovalRule'
type RuleHandlers = { readonly [K in RuleEndpoints]: Handler<(typeof approvals)[K]> }

export const ruleHandlers = ({ db, writer }: Pick<Deps, 'db' | 'writer'>): RuleHandlers => ({
  listApprovalRules: ({ query }, { orgId }) =>
    pageOf(query.limit, {
      read: (limit) => listRules(db, orgId, { limit, after: query.cursor }),
      cursor: ({ id }) => id,
      items: (rows) => rows.map(wireRule),
    }),

  getApprovalRule: async ({ params }, caller) => {
    const row = await findRule(db, caller.orgId, params.id)
    if (!row) throw fail('approval_rule_not_found')
    return new Reply<ApprovalRule>(wireRule(row), { headers: { ETag: tagOf(row) } })
  },

  setApprovalRule: async ({ params: { id }, body, query }, caller, request) => {
    const warnings = [...checkRule(body), ...(await actionHints(db, caller.orgId, body.actions))]
    if (query.validate === 'true')
      return new Reply({ valid: true, errors: [], warnings } as never, { status: 200 })
    const version = versionOf(request)
    return writer.change(
      caller.orgId,
      { ...request, caller },
      async ({ tx, recordedAt }, admitted) => {
        const before = await findRule(tx, caller.orgId, id)
        requireVersion(version, before)
        const row = {
          org_id: caller.orgId,
          id,
          document: JSON.stringify(body),
          created_at: before?.created_at ?? recordedAt,
          created_by: before?.created_by ?? actorOf(admitted).id,
          updated_at: recordedAt,
        }
        await putRule(tx, row)
        const rule = wireRule(row)
        return {
          entries: [
            {
              kind: 'approval_rule.set',
              actor: actorOf(admitted),
              data: { approval_rule: rule, ...personOf(admitted) },
            },
          ],
          reply: ([recorded]) =>
            new Reply<ApprovalRule>(
              { ...rule, warnings, ...(recorded && { ledger: recorded.receipt }) },
              {
                status: before ? 200 : 201,
                headers: {
                  ETag: tagOf(row),
                  ...(!before && { Location: `/v1/approval-rules/${id}` }),
                },
              },
            ),
        }
      },
    )
  },

  removeApprovalRule: ({ params: { id } }, caller, request) => {
    const version = versionOf(request)
    return writer.change(caller.orgId, { ...request, caller }, async ({ tx }, admitted) => {
      const row = await findRule(tx, caller.orgId, id)
      if (row) requireVersion(version, row)
      if (!row || !(await deleteRule(tx, caller.orgId, id))) throw fail('approval_rule_not_found')
      return {
        entries: [
          {
            kind: 'approval_rule.removed',
            actor: actorOf(admitted),
            data: { approval_rule: wireRule(row), ...personOf(admitted) },
          },
        ],
        reply: () => undefined,
      }
    })
  },
})

/** A hash: a rule has no count of its changes. */
const tagOf = ({ document }: { readonly document: string }): string =>
  `"${hash('sha256', document, 'base64url').slice(0, 22)}"`

/** The version in `If-Match`; null without one. */
function versionOf(request: RequestInfo): string | null {
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
