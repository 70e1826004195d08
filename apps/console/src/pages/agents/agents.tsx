import type { Agent } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useCan } from '../../api/session.ts'
import { agentsQuery } from '../../api/queries.ts'
import { t } from '../../texts.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Page, Stack, TabLinks, TableOf } from '../../ui/layout.tsx'
import { CurlButton } from '../../ui/states.tsx'
import { Badge, Id } from '../../ui/values.tsx'
import { Issuers } from '../issuers/list.tsx'
import { TrustPolicies } from '../trust/list.tsx'
import { OpenDefault } from './open-default.tsx'
import { RegisterDialog } from './register-dialog.tsx'

const AGENT = {
  method: 'POST',
  path: '/v1/identity/agents',
  body: { agent_id: 'payer', owners: [{ type: 'user', id: 'ada' }] },
}
const PATHS: Readonly<Record<string, string>> = {
  trust: '/v1/identity/trust',
  issuers: '/v1/identity/idp',
}

export function Agents() {
  const can = useCan()
  const search = useSearch({ from: '/agents' })
  const [isOpen, setOpen] = useState(false)
  const tabs = [
    { label: t.agents.tabs.agents, value: 'agents' },
    ...(can('GET /v1/identity/trust') ? [{ label: t.agents.tabs.trust, value: 'trust' }] : []),
    ...(can('GET /v1/identity/idp') ? [{ label: t.agents.tabs.issuers, value: 'issuers' }] : []),
  ]
  const tab = tabs.find(({ value }) => value === search.tab)?.value ?? 'agents'
  return (
    <Page
      title={t.agents.title}
      actions={
        <>
          <CurlButton request={PATHS[tab] ?? '/v1/identity/agents'} />
          {tab === 'agents' && can('POST /v1/identity/agents') && (
            <Button tone="primary" onClick={() => setOpen(true)}>
              {t.agents.register}
            </Button>
          )}
          {tab === 'trust' && can('POST /v1/identity/trust') && (
            <Link to="/agents/trust/$id" params={{ id: 'new' }} className={buttonClass('primary')}>
              {t.agents.trust.create}
            </Link>
          )}
          {tab === 'issuers' && can('POST /v1/identity/idp') && (
            <Link
              to="/agents/issuers/$id"
              params={{ id: 'new' }}
              className={buttonClass('primary')}
            >
              {t.issuers.create}
            </Link>
          )}
        </>
      }
      tabs={<TabLinks label={t.agents.title} tabs={tabs} current={tab} />}
    >
      {tab === 'agents' && (
        <Stack>
          <OpenDefault name="unknown_agents" />
          <AgentList />
        </Stack>
      )}
      {tab === 'trust' && <TrustPolicies />}
      {tab === 'issuers' && <Issuers />}
      {isOpen && <RegisterDialog onClose={() => setOpen(false)} />}
    </Page>
  )
}

export const AgentStatus = ({ status }: { status: Agent['status'] }) => (
  <Badge tone={status === 'active' ? 'allow' : 'deny'}>{status}</Badge>
)

function AgentList() {
  const query = useQuery(agentsQuery)
  return (
    <TableOf<Agent>
      query={query}
      empty={{ title: t.agents.empty, text: t.agents.emptyText, request: AGENT }}
      label={t.agents.title}
      rowKey={({ agent_id }) => agent_id}
      csv="agents"
      columns={[
        {
          name: t.agents.id,
          value: ({ agent_id }) => agent_id,
          cell: ({ agent_id }) => (
            <Link to="/agents/$id" params={{ id: agent_id }}>
              <Id>{agent_id}</Id>
            </Link>
          ),
        },
        { name: t.agents.name, value: ({ name }) => name },
        {
          name: t.agents.status,
          value: ({ status }) => status,
          cell: ({ status }) => <AgentStatus status={status} />,
        },
        {
          name: t.agents.owners,
          value: ({ owners }) => owners.map(({ id, email }) => email ?? id).join(', '),
        },
        { name: t.agents.environment, value: ({ environment }) => environment },
        { name: t.common.created, value: ({ created_at }) => created_at, as: 'time' },
      ]}
    />
  )
}
