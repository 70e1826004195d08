import type { Policy } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { usePolicyHits } from '../../api/stats.ts'
import { count } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Table } from '../../ui/layout.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Ago, Badge, Id, Literal, Time } from '../../ui/values.tsx'
import { RuleName } from '../rules/rule-name.tsx'
import styles from './policies.module.css'
import { policiesQuery } from './queries.ts'
import { shadowOf } from './shadow.ts'

const POLICY = {
  method: 'POST',
  path: '/v1/policies',
  body: { effect: 'deny', actions: ['db.drop*'], description: 'No destructive actions' },
}

export function PolicyList() {
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

const Patterns = ({ of }: { of: readonly string[] }) => <Id>{of.join(', ')}</Id>

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
            <>
              <Link to="/policies/$id" params={{ id: rule.id }}>
                <RuleName rule={rule} />
              </Link>
              <Shadow by={shadows.get(rule.id) ?? null} />
            </>
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
                  <span title={t.policies.hitsHint}>{count(hits.get(id)?.count ?? 0)}</span>
                ),
              },
              {
                name: t.policies.lastHit,
                cell: ({ id }: Policy) => {
                  const last = hits.get(id)?.last
                  return last === undefined ? '–' : <Ago at={last} />
                },
              },
            ]
          : []),
        { name: t.policies.updated, cell: ({ updated_at }) => <Time at={updated_at} /> },
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
