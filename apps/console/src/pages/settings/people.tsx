import type { Person, PersonChange, PersonRole } from '@remit/contract'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { listQuery } from '../../api/queries.ts'
import { refresh } from '../../api/query-client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDelete } from '../../ui/action.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { Card, Row, Stack, TableOf } from '../../ui/layout.tsx'
import { CurlButton, Failure } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Literal, Time } from '../../ui/values.tsx'
import { fieldsOf } from '../rules/validation.ts'

const ROLES = ['read', 'approver', 'admin'] as const satisfies readonly PersonRole[]
const PERSON = {
  method: 'POST',
  path: '/v1/people',
  body: { email: 'ada@example.com', role: 'approver' },
}

const TONES = { active: 'allow', invited: 'wait', disabled: undefined } as const

/** The people of the organization: they sign in with its identity provider. */
export function People() {
  const can = useCan()
  const query = useQuery(listQuery('people', remit.listPeople))
  const change = useMutation({
    mutationFn: ({ id, body }: { id: string; body: PersonChange }) =>
      remit.changePerson({ params: { id }, body }),
    onSettled: () => refresh('people'),
  })
  return (
    <Stack>
      {can('POST /v1/people') && <Invite />}
      {change.error && <Failure error={change.error} />}
      <TableOf<Person>
        query={query}
        empty={{
          title: t.settings.people.empty,
          text: t.settings.people.emptyText,
          request: PERSON,
        }}
        label={t.settings.tabs.people}
        rowKey={({ id }) => id}
        csv="people"
        columns={[
          {
            name: t.settings.people.email,
            value: ({ email }) => email,
            cell: ({ email, name }) => (
              <>
                <Literal>{email}</Literal>
                {name !== null && (
                  <Literal as="div" className={ui['muted']}>
                    {name}
                  </Literal>
                )}
              </>
            ),
          },
          {
            name: t.settings.people.role,
            value: ({ role }) => role,
            cell: ({ id, email, role }) =>
              can('PATCH /v1/people/{id}') ? (
                <select
                  className={ui['input']}
                  aria-label={`${t.settings.people.role}: ${email}`}
                  value={role}
                  disabled={change.isPending}
                  onChange={(event) =>
                    change.mutate({ id, body: { role: event.target.value as PersonRole } })
                  }
                >
                  {ROLES.map((one) => (
                    <option key={one} value={one}>
                      {one}
                    </option>
                  ))}
                </select>
              ) : (
                role
              ),
          },
          {
            name: t.settings.people.status,
            value: ({ status }) => status,
            badge: ({ status }) => TONES[status],
          },
          {
            name: t.settings.people.lastLogin,
            value: ({ last_login_at: at }) => at ?? t.common.never,
            cell: ({ last_login_at: at }) => (at === null ? t.common.never : <Time at={at} />),
          },
          {
            name: t.common.actions,
            end: true,
            cell: (person) => (
              <Actions
                person={person}
                onChange={(body) => change.mutate({ id: person.id, body })}
              />
            ),
          },
        ]}
      />
    </Stack>
  )
}

interface ActionsProps {
  readonly person: Person
  readonly onChange: (body: PersonChange) => void
}

function Actions({ person: { id, email, status }, onChange }: ActionsProps) {
  const can = useCan()
  const path = `/v1/people/${encodeURIComponent(id)}`
  const mayChange = can('PATCH /v1/people/{id}')
  return (
    <Row>
      {mayChange && status === 'disabled' && (
        <Button
          aria-label={`${t.settings.people.enable} ${email}`}
          onClick={() => onChange({ status: 'active' })}
        >
          {t.settings.people.enable}
        </Button>
      )}
      {mayChange && status !== 'disabled' && (
        <ConfirmDelete
          title={t.settings.people.disableTitle}
          text={t.settings.people.disableText}
          verb={t.settings.people.disable}
          done={t.settings.people.disabled}
          label={`${t.settings.people.disable} ${email}`}
          request={() => ({ method: 'PATCH', path, body: { status: 'disabled' } })}
          onDelete={() => remit.changePerson({ params: { id }, body: { status: 'disabled' } })}
          onDeleted={() => refresh('people')}
        >
          <Literal>{email}</Literal>
        </ConfirmDelete>
      )}
      {can('DELETE /v1/people/{id}') && (
        <ConfirmDelete
          title={t.settings.people.removeTitle}
          text={t.settings.people.removeText}
          verb={t.settings.people.remove}
          done={t.settings.people.removed}
          label={`${t.settings.people.remove} ${email}`}
          request={() => ({ method: 'DELETE', path })}
          onDelete={() => remit.removePerson({ params: { id } })}
          onDeleted={() => refresh('people')}
        >
          <Literal>{email}</Literal>
        </ConfirmDelete>
      )}
    </Row>
  )
}

function Invite() {
  const [draft, setDraft] = useState({ email: '', name: '', role: 'read' as PersonRole })
  const { email, name, role } = draft
  const body = { email: email.trim(), role, ...(name.trim() !== '' && { name: name.trim() }) }
  const invite = useMutation({
    mutationFn: () => remit.invitePerson({ body }),
    onSuccess: () => {
      setDraft((now) => ({ ...now, email: '', name: '' }))
      return refresh('people')
    },
  })
  const { text, choice } = fieldsOf({ draft, onDraft: setDraft, error: invite.error })
  return (
    <Card title={t.settings.people.invite}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          invite.mutate()
        }}
      >
        <Stack>
          <Row>
            <Input {...text('email')} label={t.settings.people.email} type="email" />
            <Input {...text('name')} label={t.settings.people.name} />
            <Select {...choice('role')} label={t.settings.people.role} options={ROLES} />
            <Button type="submit" tone="primary" disabled={invite.isPending || email.trim() === ''}>
              {t.settings.people.invite}
            </Button>
            <CurlButton request={() => ({ method: 'POST', path: '/v1/people', body })} />
          </Row>
          {invite.error && <Failure error={invite.error} />}
        </Stack>
      </form>
    </Card>
  )
}
