import { Link, useSearch } from '@tanstack/react-router'
import type { Policy } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Page, TabLinks, Table } from '../../ui/layout.tsx'
import { CurlButton, Empty, Loaded } from '../../ui/states.tsx'
import { ApprovalRules } from '../approval-rules/list.tsx'
import { usePolicyHits } from '../../api/stats.ts'
import { count } from '../../format/money.ts'
import { Badge, HourAgo, Literal } from '../../ui/values.tsx'
import { RuleName } from '../rules/form.tsx'
import styles from './policies.module.css'
import { policiesQuery } from './queries.ts'
import { shadowOf } from './shadow.ts'

export function Policies() {
  const { tab = 'policies' } = useSearch({ from: '/policies' })
  const isRules = tab === 'approval-rules'
  const path = isRules ? '/v1/approval-rules' : '/v1/policies'
  return (
    <Page
      title={t.policies.title}
      actions={
        <>
          <CurlButton request={() => ({ method: 'GET', path })} />
          <New isRules={isRules} />
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
      {isRules ? <ApprovalRules /> : <PolicyList />}
    </Page>
  )
}

function New({ isRules }: { isRules: boolean }) {
  const can = useCan()
  const mayCreate = can(isRules ? 'POST /v1/approval-rules/{id}' : 'POST /v1/policies')
  if (!mayCreate) return null
  return (
    <Link
      to={isRules ? '/policies/approval-rules/$id' : '/policies/$id'}
      params={{ id: 'new' }}
      className={buttonClass('primary')}
    >
      {isRules ? t.policies.newRule : t.policies.new}
    </Link>
  )
}

const POLICY = {
  method: 'POST',
  path: '/v1/policies',
  body: { effect: 'deny', actions: ['db.drop*'], description: 'No destructive actions' },
}

function PolicyList() {
  const query = useQuery(policiesQuery)
  return (
    <Loaded query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title={t.policies.empty} request={POLICY}>
            {t.policies.emptyText}
          </Empty>
        ) : (
          <Rules rules={data} />
        )
      }
    </Loaded>
  )
}

function Rules({ rules }: { rules: readonly Policy[] }) {
  const hits = usePolicyHits()
  const shadows = useMemo(
    () => new Map(rules.map((rule) => [rule.id, shadowOf(rule, rules)])),
    [rules],
  )
  return (
    <Table<Policy>
      label={t.policies.policies}
      rows={rules}
      rowKey={({ id }) => id}
      csv="policies"
      columns={[
        {
          name: t.policies.effect,
          value: ({ effect, enabled }) => (enabled ? effect : t.policies.disabled),
          cell: ({ effect, enabled }) => (
            <Badge tone={enabled ? effect : undefined}>
              {enabled ? effect : t.policies.disabled}
            </Badge>
          ),
        },
        {
          name: t.policies.rule,
          value: ({ description }) => description,
          cell: (rule) => (
            <>
              <Link to="/policies/$id" params={{ id: rule.id }}>
                <RuleName rule={rule} />
              </Link>
              <Shadow by={shadows.get(rule.id) ?? null} />
            </>
          ),
        },
        { name: t.policies.id, value: ({ id }) => id, isFileOnly: true },
        {
          name: t.policies.condition,
          value: ({ condition }) => condition,
          isFileOnly: true,
        },
        { name: t.policies.agents, value: ({ agents }) => agents.join(', '), as: 'id' },
        { name: t.policies.actions, value: ({ actions }) => actions.join(', '), as: 'id' },
        { name: t.policies.resources, value: ({ resources }) => resources.join(', '), as: 'id' },

        ...(hits
          ? [
              {
                name: t.policies.hits,
                end: true,
                value: ({ id }: Policy) => hits.get(id)?.count ?? 0,
                cell: ({ id }: Policy) => (
                  <span title={t.policies.hitsHint}>{count(hits.get(id)?.count ?? 0)}</span>
                ),
              },
              {
                name: t.policies.lastHit,
                value: ({ id }: Policy) => hits.get(id)?.last,
                cell: ({ id }: Policy) => {
                  const last = hits.get(id)?.last
                  return last === undefined ? '–' : <HourAgo start={last} />
                },
              },
            ]
          : []),
        { name: t.policies.updated, value: ({ updated_at }) => updated_at, as: 'time' },
      ]}
    />
  )
}

const Shadow = ({ by }: { by: Policy | null }) =>
  by && (
    <div className={styles['shadow']}>
      <Badge tone="wait">{t.policies.shadowed}</Badge>
      <Link to="/policies/$id" params={{ id: by.id }}>
        <Literal>{by.description ?? by.id}</Literal>
      </Link>
    </div>
  )
