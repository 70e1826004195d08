import { Link, useSearch } from '@tanstack/react-router'
import type { Policy } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useCan } from '../../api/session.ts'
import { policiesQuery } from '../../api/queries.ts'
import { t } from '../../texts.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Page, TabLinks, TableOf } from '../../ui/layout.tsx'
import type { Column } from '../../ui/layout.tsx'
import { CurlButton } from '../../ui/states.tsx'
import { PolicySets } from '../policy-sets/sets.tsx'
import { ApprovalRules } from '../approval-rules/list.tsx'
import { usePolicyHits } from '../../api/stats.ts'
import { count } from '../../format/money.ts'
import { Badge, HourAgo, Literal } from '../../ui/values.tsx'
import { CONDITION_COLUMN, PATTERN_COLUMNS, RuleName, stateText } from '../rules/list.tsx'
import styles from './policies.module.css'
import { shadowOf } from './shadow.ts'

const PATHS: Readonly<Record<string, string>> = {
  'approval-rules': '/v1/approval-rules',
  sets: '/v1/policy-sets',
}

export function Policies() {
  const { tab = 'policies' } = useSearch({ from: '/policies' })
  const isRules = tab === 'approval-rules'
  const isSets = tab === 'sets'
  return (
    <Page
      title={t.policies.title}
      actions={
        <>
          <CurlButton request={PATHS[tab] ?? '/v1/policies'} />
          {isSets ? <NewSet /> : <New isRules={isRules} />}
        </>
      }
      tabs={
        <TabLinks
          label={t.policies.title}
          current={tab}
          tabs={[
            { label: t.policies.policies, value: 'policies' },
            { label: t.policies.approvalRules, value: 'approval-rules' },
            { label: t.policySets.title, value: 'sets' },
          ]}
        />
      }
    >
      {isSets ? <PolicySets /> : isRules ? <ApprovalRules /> : <PolicyList />}
    </Page>
  )
}

function NewSet() {
  if (!useCan()('POST /v1/policy-sets/{id}/apply')) return null
  return (
    <Link to="/policies/sets/new" className={buttonClass('primary')}>
      {t.policySets.fromTemplate}
    </Link>
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
  const rules = query.data?.data
  const hits = usePolicyHits()
  const shadows = useMemo(
    () => new Map(rules?.map((rule) => [rule.id, shadowOf(rule, rules)])),
    [rules],
  )
  return (
    <TableOf<Policy>
      query={query}
      empty={{ title: t.policies.empty, text: t.policies.emptyText, request: POLICY }}
      label={t.policies.policies}
      rowKey={({ id }) => id}
      csv="policies"
      columns={[
        {
          name: t.policies.effect,
          value: ({ effect, ...rule }) =>
            rule.mode === 'observe'
              ? t.policies.observedEffect(effect)
              : (stateText(rule) ?? effect),
          badge: ({ effect, ...rule }) => (stateText(rule) === null ? effect : undefined),
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
        CONDITION_COLUMN,
        ...PATTERN_COLUMNS,
        ...(hits ? hitColumns(hits) : []),
        { name: t.policies.updated, value: ({ updated_at }) => updated_at, as: 'time' },
      ]}
    />
  )
}

const hitColumns = (hits: NonNullable<ReturnType<typeof usePolicyHits>>): Column<Policy>[] => [
  {
    name: t.policies.hits,
    end: true,
    value: ({ id }) => hits.get(id)?.count ?? 0,
    cell: ({ id }) => <span title={t.policies.hitsHint}>{count(hits.get(id)?.count ?? 0)}</span>,
  },
  {
    name: t.policies.lastHit,
    value: ({ id }) => hits.get(id)?.last,
    cell: ({ id }) => {
      const last = hits.get(id)?.last
      return last === undefined ? '–' : <HourAgo start={last} />
    },
  },
]

const Shadow = ({ by }: { by: Policy | null }) =>
  by && (
    <div className={styles['shadow']}>
      <Badge tone="wait">{t.policies.shadowed}</Badge>
      <Link to="/policies/$id" params={{ id: by.id }}>
        <Literal>{by.description ?? by.id}</Literal>
      </Link>
    </div>
  )
