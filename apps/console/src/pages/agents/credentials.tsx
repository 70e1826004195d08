import type { Agent, Credential } from '@remit/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Stack, Table } from '../../ui/layout.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { Failure, Loaded } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Ago, Badge } from '../../ui/values.tsx'
import { credentialsQuery } from './queries.ts'

export function Credentials({ agent }: { agent: Agent }) {
  const { agent_id: id, allowed_scopes: scopes } = agent
  const can = useCan()
  const client = useQueryClient()
  const query = useQuery(credentialsQuery(id))
  const [secret, setSecret] = useState<string | null>(null)
  const refresh = () => client.invalidateQueries({ queryKey: ['agents', id, 'credentials'] })
  const issue = useMutation({
    mutationFn: () => remit.issueCredential({ params: { agentID: id }, body: { scopes } }),
    onSuccess: ({ secret: issued }) => {
      setSecret(issued)
      return refresh()
    },
  })
  const revoke = useMutation({
    mutationFn: (credential: string) => remit.revokeCredential({ params: { credID: credential } }),
    onSuccess: () => {
      announce(t.agents.revoked)
      return refresh()
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
        <Loaded query={query}>
          {({ data }) =>
            data.length === 0 ? (
              <p className={ui['muted']}>{t.agents.noCredentials}</p>
            ) : (
              <Table<Credential>
                label={t.agents.credentials}
                rows={data}
                rowKey={(row) => row.id}
                csv={`credentials-${id}`}
                columns={[
                  { name: t.agents.credential, value: ({ display }) => display, as: 'id' },
                  {
                    name: t.agents.status,
                    value: ({ status }) => status,
                    cell: ({ status }) => (
                      <Badge tone={status === 'active' ? 'allow' : undefined}>{status}</Badge>
                    ),
                  },
                  {
                    name: t.agents.credentialScopes,
                    value: (row) => row.scopes.join(', '),
                  },
                  { name: t.agents.expires, value: ({ expires_at }) => expires_at, as: 'time' },
                  {
                    name: t.agents.lastUsed,
                    value: ({ last_used_at: at }) => at ?? t.common.never,
                    cell: ({ last_used_at: at }) =>
                      at === null ? t.common.never : <Ago at={at} />,
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
            )
          }
        </Loaded>
      </Stack>
      <SecretDialog title={t.agents.secretTitle} secret={secret} onDone={() => setSecret(null)} />
    </Card>
  )
}
