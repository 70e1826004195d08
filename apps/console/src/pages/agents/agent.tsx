import type { Agent, EffectivePermissions, Credential } from '@remit/contract'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { isMissing, remit } from '../../api/client.ts'
import { refresh } from '../../api/query-client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { ConfirmDelete } from '../../ui/action.tsx'
import { Input } from '../../ui/field.tsx'
import { Card, Facts, Page, Stack, Table, TableOf } from '../../ui/layout.tsx'
import { CurlButton, Empty, Failure, Loaded } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import { Literal, Time, Ago } from '../../ui/values.tsx'
import { faultAt } from '../rules/validation.ts'
import { AgentActivity, AgentNumbers, credentialsQuery } from './activity.tsx'
import { AgentStatus } from './agents.tsx'
import { OpenDefault } from './open-default.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'

const agentPath = (id: string): string => `/v1/identity/agents/${encodeURIComponent(id)}`

/** One agent: what it does, spends and may do, its record and credentials, and the switch to stop it. */
export function AgentPage() {
  const { id } = useParams({ from: '/agents/$id' })
  const can = useCan()
  const query = useQuery({
    queryKey: ['agents', id],
    queryFn: ({ signal }) => remit.getAgent({ params: { agentID: id }, signal }),
  })
  return (
    <Page
      title={<Literal>{id}</Literal>}
      actions={
        <>
          <CurlButton request={agentPath(id)} />
          <Link to="/ledger" search={{ agent_id: id }} className={buttonClass()}>
            {t.nav.ledger}
          </Link>
          {query.data && can('PATCH /v1/identity/agents/{agentID}') && <Stop agent={query.data} />}
        </>
      }
    >
      {isMissing(query.error) ? (
        <Unregistered id={id} />
      ) : (
        <Loaded query={query}>
          {(agent) => (
            <Stack>
              <AgentNumbers id={id} />
              <Card title={t.agents.record} actions={<AgentStatus status={agent.status} />}>
                <Record agent={agent} />
              </Card>
              <AgentActivity id={id} />
              {can('GET /v1/delegation/effective') && <Effective id={id} />}
              <Credentials agent={agent} />
            </Stack>
          )}
        </Loaded>
      )}
    </Page>
  )
}

/** An agent that acts, or acted, under an id that is not registered. */
const Unregistered = ({ id }: { id: string }) => (
  <Stack>
    <Empty title={t.agents.unregistered}>{t.agents.unregisteredText}</Empty>
    <AgentActivity id={id} />
  </Stack>
)

function Record({ agent }: { agent: Agent }) {
  const { description, owners, labels, suspended_at: stoppedAt } = agent
  return (
    <Facts
      rows={[
        [t.agents.name, agent.name],
        [t.agents.description, description && <Literal lines>{description}</Literal>],
        [t.agents.owners, owners.map(({ id, email }) => email ?? id).join(', ')],
        [t.agents.environment, agent.environment],
        [
          t.agents.labels,
          Object.entries(labels)
            .map((label) => label.join('='))
            .join(', '),
        ],
        [t.agents.scopes, agent.allowed_scopes.join(', ')],
        [t.common.created, <Time key="c" at={agent.created_at} as="full" />],
        [t.agents.stoppedAt, stoppedAt && <Time at={stoppedAt} as="full" />],
        [t.agents.stopReason, agent.suspended_reason],
      ]}
    />
  )
}

/** The switch: suspended, an agent gets no allow on any process. */
function Stop({ agent: { agent_id: id, status } }: { agent: Agent }) {
  const [reason, setReason] = useState('')
  const isActive = status === 'active'
  const body = isActive
    ? { status: 'suspended' as const, suspended_reason: reason }
    : { status: 'active' as const }
  const title = isActive ? t.agents.stop : t.agents.resume
  return (
    <ConfirmDelete
      tone={isActive ? 'danger' : undefined}
      title={title}
      verb={title}
      done={isActive ? t.agents.stopped : t.agents.resumed}
      request={() => ({ method: 'PATCH', path: agentPath(id), body })}
      onDelete={() => remit.changeAgent({ params: { agentID: id }, body })}
      onDeleted={() => refresh('agents')}
    >
      {(error) => (
        <>
          <p>
            <Literal as="strong">{id}</Literal>
          </p>
          {isActive && <p>{t.agents.stopText}</p>}
          {isActive && (
            <Input
              label={t.agents.stopReason}
              hint={t.agents.stopReasonHint}
              maxLength={500}
              value={reason}
              fault={faultAt(error, 'suspended_reason')}
              onValue={setReason}
            />
          )}
        </>
      )}
    </ConfirmDelete>
  )
}

function Effective({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ['agents', id, 'effective'],
    queryFn: ({ signal }) => remit.getEffectivePermissions({ query: { agent_id: id }, signal }),
  })
  return (
    <Card title={t.agents.effective}>
      <Loaded query={query}>{(answer) => <Permissions answer={answer} />}</Loaded>
    </Card>
  )
}

interface Row {
  readonly id: string
  readonly effect: 'allow' | 'deny'
  readonly actions: readonly string[]
  readonly resources: readonly string[]
  readonly condition: string
}

function Permissions({ answer }: { answer: EffectivePermissions }) {
  const { mode, grants, denies, changes_at } = answer
  const rows: Row[] = [
    ...denies.map((deny) => ({
      ...deny,
      effect: 'deny' as const,
      condition: deny.condition ?? '',
    })),
    ...grants.map((grant) => ({
      ...grant,
      effect: 'allow' as const,
      condition: grant.conditions.join(' && '),
    })),
  ]
  return (
    <Stack>
      <Facts
        rows={[
          [t.agents.mode, t.agents.modes[mode]],
          [t.agents.changes, changes_at && <Time at={changes_at} as="full" />],
        ]}
      />
      {mode === 'open' && <OpenDefault name="default_effect" />}
      <Table<Row>
        label={t.agents.effective}
        rows={rows}
        empty={t.agents.noGrants[mode]}
        rowKey={(row) => `${row.effect} ${row.id}`}
        columns={[
          {
            name: t.policies.effect,
            value: ({ effect }) => effect,
            badge: ({ effect }) => effect,
          },
          { name: t.policies.rule, value: (row) => row.id, as: 'id' },
          { name: t.agents.actions, value: ({ actions }) => actions.join(', '), as: 'id' },
          { name: t.agents.resources, value: ({ resources }) => resources.join(', '), as: 'id' },
          { name: t.agents.condition, value: ({ condition }) => condition },
        ]}
      />
    </Stack>
  )
}

function Credentials({ agent }: { agent: Agent }) {
  const { agent_id: id, allowed_scopes: scopes } = agent
  const can = useCan()
  const query = useQuery(credentialsQuery(id))
  const [secret, setSecret] = useState<string | null>(null)
  const issue = useMutation({
    mutationFn: () => remit.issueCredential({ params: { agentID: id }, body: { scopes } }),
    onSuccess: ({ secret: issued }) => {
      setSecret(issued)
      return refresh('agents', id, 'credentials')
    },
  })
  const revoke = useMutation({
    mutationFn: (credential: string) => remit.revokeCredential({ params: { credID: credential } }),
    onSuccess: () => {
      announce(t.agents.revoked)
      return refresh('agents', id, 'credentials')
    },
  })
  const mayIssue = can('POST /v1/identity/agents/{agentID}/credentials')
  const mayRevoke = can('DELETE /v1/identity/credentials/{credID}')
  const error = issue.error ?? revoke.error
  return (
    <Card
      title={t.agents.credentials}
      actions={
        mayIssue && (
          <Button disabled={issue.isPending} onClick={() => issue.mutate()}>
            {t.agents.issue}
          </Button>
        )
      }
    >
      <Stack>
        {error && <Failure error={error} />}
        <TableOf<Credential>
          query={query}
          empty={t.agents.noCredentials}
          label={t.agents.credentials}
          rowKey={(row) => row.id}
          csv={`credentials-${id}`}
          columns={[
            { name: t.agents.credential, value: ({ display }) => display, as: 'id' },
            {
              name: t.agents.status,
              value: ({ status }) => status,
              badge: ({ status }) => (status === 'active' ? 'allow' : undefined),
            },
            {
              name: t.agents.credentialScopes,
              value: (row) => row.scopes.join(', '),
            },
            { name: t.agents.expires, value: ({ expires_at }) => expires_at, as: 'time' },
            {
              name: t.agents.lastUsed,
              value: ({ last_used_at: at }) => at ?? t.common.never,
              cell: ({ last_used_at: at }) => (at === null ? t.common.never : <Ago at={at} />),
            },
            {
              name: t.common.actions,
              end: true,
              cell: (row) =>
                mayRevoke &&
                row.status === 'active' && (
                  <Button
                    tone="danger"
                    disabled={revoke.isPending}
                    aria-label={`${t.agents.revoke} ${row.display}`}
                    onClick={() => revoke.mutate(row.id)}
                  >
                    {t.agents.revoke}
                  </Button>
                ),
            },
          ]}
        />
      </Stack>
      <SecretDialog title={t.agents.secretTitle} secret={secret} onDone={() => setSecret(null)} />
    </Card>
  )
}
