import type { Person, PersonChange, PersonRole } from '@remit/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { Card, Row, Stack, Table } from '../../ui/layout.tsx'
import { CurlButton, Empty, Failure, Loaded } from '../../ui/states.tsx'
import { Badge, Literal, Time } from '../../ui/values.tsx'

const ROLES = [
  ['read', 'read'],
  ['approver', 'approver'],
  ['admin', 'admin'],
] as const

const roleOf = (text: string): PersonRole => ROLES.find(([role]) => role === text)?.[0] ?? 'read'

/** The people of the organization: they sign in with its identity provider. */
export function People() {
  const can = useCan()
  const client = useQueryClient()
  const query = useQuery({
    queryKey: ['people'],
    queryFn: ({ signal }) => remit.listPeople({ query: { limit: 1_000 }, signal }),
  })
  const change = useMutation({
    mutationFn: ({ id, body }: { id: string; body: PersonChange }) =>
      remit.changePerson({ params: { id }, body }),
    onSettled: () => client.invalidateQueries({ queryKey: ['people'] }),
  })
  const mayChange = can('PATCH /v1/people/{id}')
  return (
    <Stack>
      {can('POST /v1/people') && <Invite />}
      {change.error && <Failure error={change.error} />}
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t.settings.people.empty}>{t.settings.people.emptyText}</Empty>
          ) : (
            <Table<Person>
              label={t.settings.tabs.people}
              rows={data}
              rowKey={({ id }) => id}
              columns={[
                { name: t.settings.people.email, cell: ({ email }) => <Literal>{email}</Literal> },
                {
                  name: t.settings.people.role,
                  cell: ({ id, email, role }) =>
                    mayChange ? (
                      <Select
                        label={`${t.settings.people.role}: ${email}`}
                        value={role}
                        options={ROLES}
                        onValue={(value) => change.mutate({ id, body: { role: roleOf(value) } })}
                      />
                    ) : (
                      role
                    ),
                },
                {
                  name: t.settings.people.status,
                  cell: ({ status }) => (
                    <Badge tone={status === 'active' ? 'allow' : undefined}>{status}</Badge>
                  ),
                },
                {
                  name: t.settings.people.lastLogin,
                  cell: ({ last_login_at: at }) =>
                    at === null ? t.common.never : <Time at={at} />,
                },
                {
                  name: t.common.actions,
                  end: true,
                  cell: ({ id, status, email }) =>
                    mayChange && (
                      <Button
                        tone={status === 'disabled' ? undefined : 'danger'}
                        aria-label={`${status === 'disabled' ? t.settings.people.enable : t.settings.people.disable} ${email}`}
                        onClick={() =>
                          change.mutate({
                            id,
                            body: { status: status === 'disabled' ? 'active' : 'disabled' },
                          })
                        }
                      >
                        {status === 'disabled'
                          ? t.settings.people.enable
                          : t.settings.people.disable}
                      </Button>
                    ),
                },
              ]}
            />
          )
        }
      </Loaded>
    </Stack>
  )
}

function Invite() {
  const client = useQueryClient()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<PersonRole>('read')
  const body = { email, role }
  const invite = useMutation({
    mutationFn: () => remit.invitePerson({ body }),
    onSuccess: () => {
      setEmail('')
      return client.invalidateQueries({ queryKey: ['people'] })
    },
  })
  return (
    <Card title={t.settings.people.invite}>
      <Stack>
        <Row>
          <Input label={t.settings.people.email} type="email" value={email} onValue={setEmail} />
          <Select
            label={t.settings.people.role}
            value={role}
            options={ROLES}
            onValue={(value) => setRole(roleOf(value))}
          />
          <Button
            tone="primary"
            disabled={invite.isPending || email === ''}
            onClick={() => invite.mutate()}
          >
            {t.settings.people.invite}
          </Button>
          <CurlButton request={() => ({ method: 'POST', path: '/v1/people', body })} />
        </Row>
        {invite.error && <Failure error={invite.error} />}
      </Stack>
    </Card>
  )
}
