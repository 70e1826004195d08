import type { ApprovalRule } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { t } from '../../texts.ts'
import { Table } from '../../ui/layout.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Id, Literal, Time } from '../../ui/values.tsx'
import { RuleName } from '../rules/rule-name.tsx'
import { rulesQuery } from './queries.ts'

const RULE = {
  method: 'POST',
  path: '/v1/approval-rules/large-refunds',
  body: { actions: ['payments.refund'], condition: 'amount_usd > 500.0' },
}

export function ApprovalRules() {
  const query = useQuery(rulesQuery)
  return (
    <Loaded query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title={t.policies.noRules} request={RULE}>
            {t.policies.noRulesText}
          </Empty>
        ) : (
          <Table<ApprovalRule>
            label={t.policies.approvalRules}
            rows={data}
            rowKey={({ id }) => id}
            columns={[
              {
                name: t.policies.status,
                cell: ({ enabled }) => (
                  <Badge tone={enabled ? 'wait' : undefined}>
                    {enabled ? t.approvalRules.asks : t.policies.disabled}
                  </Badge>
                ),
              },
              {
                name: t.policies.rule,
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
              { name: t.policies.agents, cell: ({ agents }) => <Id>{agents.join(', ')}</Id> },
              { name: t.policies.actions, cell: ({ actions }) => <Id>{actions.join(', ')}</Id> },
              {
                name: t.policies.quorum,
                cell: ({ required_approvals }) => required_approvals,
                end: true,
              },
              {
                name: t.policies.approvers,
                cell: ({ approvers }) =>
                  approvers ? (
                    <Literal>{[...approvers.users, ...approvers.roles].join(', ')}</Literal>
                  ) : (
                    <span className={ui['muted']}>{t.policies.anyone}</span>
                  ),
              },
              { name: t.policies.updated, cell: ({ updated_at }) => <Time at={updated_at} /> },
            ]}
          />
        )
      }
    </Loaded>
  )
}
