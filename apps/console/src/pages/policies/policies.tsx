import type { ApprovalRule, Policy } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { usePolicyHits } from '../../api/stats.ts'
import { count } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Page, TabLinks, Table } from '../../ui/layout.tsx'
import { CurlButton, Empty, Loaded } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Id, Literal, Time } from '../../ui/values.tsx'
import styles from './policies.module.css'
import { policiesQuery } from './queries.ts'

const POLICY = {
  method: 'POST',
  path: '/v1/policies',
  body: { effect: 'deny', actions: ['db.drop*'], description: 'No destructive actions' },
}
const RULE = {
  method: 'POST',
  path: '/v1/approval-rules/large-refunds',
  body: { actions: ['payments.refund'], condition: 'context.amount_usd > 500.0' },
}

export function Policies() {
  const { tab = 'policies' } = useSearch({ from: '/policies' })
  const can = useCan()
  const isRules = tab === 'approval-rules'
  const path = isRules ? '/v1/approval-rules' : '/v1/policies'
  return (
    <Page
      title={t.policies.title}
      actions={
        <>
          <CurlButton request={() => ({ method: 'GET', path })} />
          {can('POST /v1/policies') && !isRules && (
            <Link to="/policies/$id" params={{ id: 'new' }} className={buttonClass('primary')}>
              {t.policies.new}
            </Link>
          )}
        </>
      }
      tabs={
        <TabLinks
          label={t.policies.title}
          current={tab}
          tabs={[
            { label: t.policies.policies, value: 'policies' },
            { label: t.policies.approvalRules, value: 'approval-rules' },
          ]}
        />
      }
    >
      {isRules ? <ApprovalRules /> : <List />}
    </Page>
  )
}

const Patterns = ({ of }: { of: readonly string[] }) => <Id>{of.join(', ')}</Id>

const Name = ({ rule }: { rule: Pick<Policy, 'id' | 'description' | 'condition'> }) => (
  <>
    <Literal>{rule.description ?? t.policies.unnamed}</Literal>
    {rule.condition !== null && (
      <code className={styles['condition']}>
        <Literal>{rule.condition}</Literal>
      </code>
    )}
  </>
)

function List() {
  const query = useQuery(policiesQuery)
  const hits = usePolicyHits()
  return (
    <Loaded query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title={t.policies.empty} request={POLICY}>
            {t.policies.emptyText}
          </Empty>
        ) : (
          <Table<Policy>
            label={t.policies.policies}
            rows={data}
            rowKey={({ id }) => id}
            columns={[
              {
                name: t.policies.effect,
                cell: ({ effect, enabled }) => (
                  <Badge tone={enabled ? effect : undefined}>
                    {enabled ? effect : t.policies.disabled}
                  </Badge>
                ),
              },
              {
                name: t.policies.rule,
                cell: (rule) => (
                  <Link to="/policies/$id" params={{ id: rule.id }}>
                    <Name rule={rule} />
                  </Link>
                ),
              },
              { name: t.policies.agents, cell: ({ agents }) => <Patterns of={agents} /> },
              { name: t.policies.actions, cell: ({ actions }) => <Patterns of={actions} /> },
              { name: t.policies.resources, cell: ({ resources }) => <Patterns of={resources} /> },
              ...(hits
                ? [
                    {
                      name: t.policies.hits,
                      end: true,
                      cell: ({ id }: Policy) => (
                        <span title={t.policies.hitsHint}>{count(hits.get(id) ?? 0)}</span>
                      ),
                    },
                  ]
                : []),
              { name: t.policies.updated, cell: ({ updated_at }) => <Time at={updated_at} /> },
            ]}
          />
        )
      }
    </Loaded>
  )
}

function ApprovalRules() {
  const query = useQuery({
    queryKey: ['approval-rules'],
    queryFn: ({ signal }) => remit.listApprovalRules({ query: { limit: 1_000 }, signal }),
  })
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
                name: t.policies.rule,
                cell: (rule) => (
                  <>
                    <Id>{rule.id}</Id>
                    <div>
                      <Name rule={rule} />
                    </div>
                  </>
                ),
              },
              { name: t.policies.agents, cell: ({ agents }) => <Patterns of={agents} /> },
              { name: t.policies.actions, cell: ({ actions }) => <Patterns of={actions} /> },
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
