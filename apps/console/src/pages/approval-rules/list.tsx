import type { ApprovalRule } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { approvalRulesQuery } from '../../api/queries.ts'
import { Link } from '@tanstack/react-router'
import { t } from '../../texts.ts'
import { TableOf } from '../../ui/layout.tsx'
import ui from '../../ui/ui.module.css'
import { Id, Literal } from '../../ui/values.tsx'
import { CONDITION_COLUMN, PATTERN_COLUMNS, RuleName, stateText } from '../rules/list.tsx'

const RULE = {
  method: 'POST',
  path: '/v1/approval-rules/large-refunds',
  body: { actions: ['payments.refund'], condition: 'amount_usd > 500.0' },
}

export function ApprovalRules() {
  const query = useQuery(approvalRulesQuery)
  return (
    <TableOf<ApprovalRule>
      query={query}
      empty={{ title: t.policies.noRules, text: t.policies.noRulesText, request: RULE }}
      label={t.policies.approvalRules}
      rowKey={({ id }) => id}
      csv="approval-rules"
      columns={[
        {
          name: t.policies.status,
          value: (rule) => stateText(rule) ?? t.approvalRules.inForce,
          badge: (rule) => (stateText(rule) === null ? 'allow' : undefined),
        },
        {
          name: t.policies.rule,
          value: ({ id }) => id,
          cell: (rule) => (
            <>
              <Link to="/policies/approval-rules/$id" params={{ id: rule.id }}>
                <Id>{rule.id}</Id>
              </Link>
              <div>
                <RuleName rule={rule} />
              </div>
            </>
          ),
        },
        {
          name: t.policies.description,
          value: ({ description }) => description,
          isFileOnly: true,
        },
        CONDITION_COLUMN,
        ...PATTERN_COLUMNS,
        {
          name: t.policies.quorum,
          value: ({ required_approvals }) => required_approvals,
          end: true,
        },
        {
          name: t.policies.approvers,
          value: ({ approvers }) =>
            approvers ? [...approvers.users, ...approvers.roles].join(', ') : t.policies.anyone,
          cell: ({ approvers }) =>
            approvers ? (
              <Literal>{[...approvers.users, ...approvers.roles].join(', ')}</Literal>
            ) : (
              <span className={ui['muted']}>{t.policies.anyone}</span>
            ),
        },
        { name: t.policies.updated, value: ({ updated_at }) => updated_at, as: 'time' },
      ]}
    />
  )
}
