import type { Issuer } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { issuersQuery } from '../../api/queries.ts'
import { t } from '../../texts.ts'
import { TableOf } from '../../ui/layout.tsx'
import { Literal, Time } from '../../ui/values.tsx'

const ISSUER = {
  method: 'POST',
  path: '/v1/identity/idp',
  body: {
    issuer: 'https://token.actions.githubusercontent.com',
    preset: 'github',
    audiences: ['remit'],
    conditions: [
      { claim: 'repository_owner_id', equals: '1234567' },
      { claim: 'repository_id', equals: '7654321' },
    ],
    agent: {
      type: 'rules',
      rules: [{ match: [{ claim: 'repository_id', equals: '7654321' }], agent_id: 'deployer' }],
    },
  },
}

export function Issuers() {
  const query = useQuery(issuersQuery)
  return (
    <TableOf<Issuer>
      query={query}
      empty={{ title: t.agents.issuers.empty, text: t.agents.issuers.text, request: ISSUER }}
      label={t.agents.tabs.issuers}
      rowKey={({ id }) => id}
      csv="issuers"
      columns={[
        {
          name: t.agents.issuers.issuer,
          value: ({ issuer }) => issuer,
          cell: ({ id, issuer }) => (
            <Link to="/agents/issuers/$id" params={{ id }}>
              <Literal>{issuer}</Literal>
            </Link>
          ),
        },
        {
          name: t.agents.status,
          value: ({ enabled }) => (enabled ? t.issuers.trusted : t.policies.disabled),
          badge: ({ enabled }) => (enabled ? 'allow' : undefined),
        },
        {
          name: t.agents.issuers.audiences,
          value: ({ audiences }) => audiences.join(', '),
        },
        { name: t.agents.issuers.keys, end: true, value: ({ keys }) => keys.count },
        {
          name: t.agents.issuers.fetched,
          value: ({ keys }) => keys.fetched_at ?? t.common.never,
          cell: ({ keys }) =>
            keys.fetched_at === null ? t.common.never : <Time at={keys.fetched_at} />,
        },
        {
          name: t.agents.issuers.error,
          value: ({ keys }) => keys.error,
        },
      ]}
    />
  )
}
