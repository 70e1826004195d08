import type { TrustPolicy } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { trustQuery } from '../../api/queries.ts'
import { t } from '../../texts.ts'
import { TableOf } from '../../ui/layout.tsx'
import { CONDITION_COLUMN, RuleName } from '../rules/list.tsx'
import { selectorText } from './draft.ts'

const POLICY = {
  method: 'POST',
  path: '/v1/identity/trust',
  body: { effect: 'allow', source_agents: ['planner'], target_agents: ['payer'], actions: ['pay'] },
}

export function TrustPolicies() {
  const query = useQuery(trustQuery)
  return (
    <TableOf<TrustPolicy>
      query={query}
      empty={{ title: t.agents.trust.empty, text: t.agents.trust.text, request: POLICY }}
      label={t.agents.tabs.trust}
      rowKey={({ id }) => id}
      csv="trust-policies"
      columns={[
        {
          name: t.agents.trust.effect,
          value: ({ effect, enabled }) => (enabled ? effect : t.policies.disabled),
          badge: ({ effect, enabled }) => (enabled ? effect : undefined),
        },
        {
          name: t.policies.rule,
          value: ({ id, description }) => description ?? id,
          cell: (rule) => (
            <Link to="/agents/trust/$id" params={{ id: rule.id }}>
              <RuleName rule={rule} />
            </Link>
          ),
        },
        CONDITION_COLUMN,
        {
          name: t.agents.trust.source,
          value: (rule) => rule.source_agents.map(selectorText).join(', '),
        },
        {
          name: t.agents.trust.target,
          value: (rule) => rule.target_agents.map(selectorText).join(', '),
        },
        {
          name: t.agents.trust.actions,
          value: ({ actions }) => actions.join(', '),
          as: 'id',
        },
        {
          name: t.policies.ends,
          value: ({ expires_at: at }) => at,
          as: 'time',
        },
        { name: t.common.created, value: ({ created_at }) => created_at, as: 'time' },
      ]}
    />
  )
}
