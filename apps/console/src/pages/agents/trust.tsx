import type { AgentSelector, Issuer, TrustPolicy } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { remit } from '../../api/client.ts'
import { t } from '../../texts.ts'
import { Table } from '../../ui/layout.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Badge, Literal, Time } from '../../ui/values.tsx'

const POLICY = {
  method: 'POST',
  path: '/v1/identity/trust',
  body: { effect: 'allow', source_agents: ['planner'], target_agents: ['payer'], actions: ['pay'] },
}

const textOf = (selector: AgentSelector): string =>
  typeof selector === 'string'
    ? selector
    : Object.entries(selector.labels)
        .map(([name, value]) => `${name}=${value}`)
        .join(' ')

const Selectors = ({ of }: { of: readonly AgentSelector[] }) => (
  <Literal>{of.map(textOf).join(', ')}</Literal>
)

export function TrustPolicies() {
  const query = useQuery({
    queryKey: ['trust'],
    queryFn: ({ signal }) => remit.listTrustPolicies({ query: { limit: 1_000 }, signal }),
  })
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
                cell: ({ effect }) => <Badge tone={effect}>{effect}</Badge>,
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
                cell: ({ actions }) => <Literal>{actions.join(', ')}</Literal>,
              },
              {
                name: t.agents.trust.description,
                cell: ({ description }) => <Literal>{description ?? '–'}</Literal>,
              },
            ]}
          />
        )
      }
    </Loaded>
  )
}

export function Issuers() {
  const query = useQuery({
    queryKey: ['issuers'],
    queryFn: ({ signal }) => remit.listIssuers({ query: { limit: 1_000 }, signal }),
  })
  return (
    <Loaded query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty title={t.agents.issuers.empty}>{t.agents.issuers.text}</Empty>
        ) : (
          <Table<Issuer>
            label={t.agents.tabs.issuers}
            rows={data}
            rowKey={({ id }) => id}
            columns={[
              { name: t.agents.issuers.issuer, cell: ({ issuer }) => <Literal>{issuer}</Literal> },
              {
                name: t.agents.issuers.audiences,
                cell: ({ audiences }) => <Literal>{audiences.join(', ')}</Literal>,
              },
              { name: t.agents.issuers.keys, end: true, cell: ({ keys }) => keys.count },
              {
                name: t.agents.issuers.fetched,
                cell: ({ keys }) =>
                  keys.fetched_at === null ? t.common.never : <Time at={keys.fetched_at} />,
              },
              {
                name: t.agents.issuers.error,
                cell: ({ keys }) => <Literal>{keys.error ?? '–'}</Literal>,
              },
            ]}
          />
        )
      }
    </Loaded>
  )
}
