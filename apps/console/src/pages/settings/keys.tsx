import type { Key } from '@remit/contract'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { refresh } from '../../api/query-client.ts'
import { keysQuery } from '../../api/queries.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDelete } from '../../ui/action.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { Card, Row, Stack, Table } from '../../ui/layout.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { CurlButton, Failure, Loaded } from '../../ui/states.tsx'
import { Id } from '../../ui/values.tsx'
import { fieldsOf } from '../rules/validation.ts'

const ROLES = ['admin', 'ingest', 'approver', 'read'] as const

export function Keys() {
  const can = useCan()
  const [secret, setSecret] = useState<string | null>(null)
  const query = useQuery(keysQuery)
  const rotate = useMutation({
    mutationFn: (id: string) => remit.rotateKey({ params: { id } }),
    onSuccess: ({ secret: made }) => {
      setSecret(made)
      return refresh('keys')
    },
  })
  return (
    <Stack>
      {can('POST /v1/keys') && (
        <NewKey
          onMade={(made) => {
            setSecret(made)
            void refresh('keys')
          }}
        />
      )}
      {rotate.error && <Failure error={rotate.error} />}
      <Loaded query={query}>
        {({ data }) => (
          <Table<Key>
            label={t.settings.tabs.keys}
            rows={data}
            rowKey={({ id }) => id}
            csv="keys"
            columns={[
              { name: t.settings.keys.id, value: ({ id }) => id, as: 'id' },
              { name: t.settings.keys.role, value: ({ role }) => role },
              { name: t.settings.keys.person, value: ({ person }) => person },
              { name: t.settings.keys.purpose, value: ({ name }) => name },
              {
                name: t.settings.keys.state,
                value: ({ revoked_at: at }) =>
                  at === null ? t.settings.keys.active : t.settings.keys.revoked,
                badge: ({ revoked_at: at }) => (at === null ? 'allow' : undefined),
              },
              { name: t.settings.keys.created, value: ({ created_at }) => created_at, as: 'time' },
              {
                name: t.common.actions,
                end: true,
                cell: (key) =>
                  key.revoked_at === null && (
                    <Row>
                      {can('POST /v1/keys/{id}/rotate') && (
                        <Button
                          tone="quiet"
                          aria-label={`${t.settings.keys.rotate} ${key.id}`}
                          disabled={rotate.isPending}
                          onClick={() => rotate.mutate(key.id)}
                        >
                          {t.settings.keys.rotate}
                        </Button>
                      )}
                      {can('DELETE /v1/keys/{id}') && (
                        <ConfirmDelete
                          title={t.settings.keys.revokeTitle}
                          text={t.settings.keys.revokeText}
                          verb={t.settings.keys.revoke}
                          done={t.settings.keys.revokeDone}
                          label={`${t.settings.keys.revoke} ${key.id}`}
                          request={() => ({ method: 'DELETE', path: `/v1/keys/${key.id}` })}
                          onDelete={() => remit.revokeKey({ params: { id: key.id } })}
                          onDeleted={() => refresh('keys')}
                        >
                          <Id>{key.id}</Id>
                        </ConfirmDelete>
                      )}
                    </Row>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      <SecretDialog
        title={t.settings.keys.secretTitle}
        secret={secret}
        onDone={() => setSecret(null)}
      />
    </Stack>
  )
}

function NewKey({ onMade }: { onMade: (secret: string | null) => void }) {
  const [draft, setDraft] = useState({
    role: 'ingest' as (typeof ROLES)[number],
    person: '',
    name: '',
  })
  const { role, person, name } = draft
  const body = { role, ...(person !== '' && { person }), ...(name !== '' && { name }) }
  const create = useMutation({
    mutationFn: () => remit.createKey({ body }),
    onSuccess: ({ secret }) => {
      setDraft((now) => ({ ...now, person: '', name: '' }))
      onMade(secret)
    },
  })
  const { text, choice } = fieldsOf({ draft, onDraft: setDraft, error: create.error })
  return (
    <Card title={t.settings.keys.create}>
      <Stack>
        <Row>
          <Select {...choice('role')} label={t.settings.keys.role} options={ROLES} />
          <Input {...text('person')} label={t.settings.keys.person} />
          <Input {...text('name')} label={t.settings.keys.purpose} />
          <Button tone="primary" disabled={create.isPending} onClick={() => create.mutate()}>
            {t.settings.keys.create}
          </Button>
          <CurlButton request={() => ({ method: 'POST', path: '/v1/keys', body })} />
        </Row>
        {create.error && <Failure error={create.error} />}
      </Stack>
    </Card>
  )
}
