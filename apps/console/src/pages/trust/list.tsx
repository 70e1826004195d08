import type { TrustPolicy } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { t } from '../../texts.ts'
import { Table } from '../../ui/layout.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Badge, Id, Literal, Time } from '../../ui/values.tsx'
import { RuleName } from '../rules/rule-name.tsx'
import { selectorText } from './draft.ts'
import { trustQuery } from './queries.ts'

const POLICY = {
  method: 'POST',
  path: '/v1/identity/trust',
  body: { effect: 'allow', source_agents: ['planner'], target_agents: ['payer'], actions: ['pay'] },
}

const Selectors = ({ of }: { of: TrustPolicy['source_agents'] }) => (
  <Literal>{of.map(selectorText).join(', ')}</Literal>
)

export function TrustPolicies() {
  const query = useQuery(trustQuery)
  return (
    <Loaded query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title={t.agents.trust.empty} request={POLICY}>
            {t.agents.trust.text}
          </Empty>
        ) : (
          <Table<TrustPolicy>
            label={t.agents.tabs.trust}
            rows={data}
            rowKey={({ id }) => id}
            columns={[
              {
                name: t.agents.trust.effect,
                cell: ({ effect, enabled }) => (
                  <Badge tone={enabled ? effect : undefined}>
                    {enabled ? effect : t.policies.disabled}
                  </Badge>
                ),
              },
              {
                name: t.policies.rule,
                cell: (rule) => (
                  <Link to="/agents/trust/$id" params={{ id: rule.id }}>
                    <RuleName rule={rule} />
                  </Link>
                ),
              },
              {
                name: t.agents.trust.source,
                cell: (rule) => <Selectors of={rule.source_agents} />,
              },
              {
                name: t.agents.trust.target,
                cell: (rule) => <Selectors of={rule.target_agents} />,
              },
              {
                name: t.agents.trust.actions,
                cell: ({ actions }) => <Id>{actions.join(', ')}</Id>,
              },
              {
                name: t.policies.ends,
                cell: ({ expires_at: at }) => (at === null ? '–' : <Time at={at} />),
              },
              { name: t.common.created, cell: ({ created_at }) => <Time at={created_at} /> },
            ]}
          />
        )
      }
    </Loaded>
  )
}
