import type { Key } from '@remit/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldErrorsOf, remit } from '../../api/client.ts'
import { keysQuery, useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { Card, Row, Stack, Table } from '../../ui/layout.tsx'
import { Modal } from '../../ui/modal.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { CurlButton, Failure, Loaded } from '../../ui/states.tsx'
import { Badge, Id } from '../../ui/values.tsx'
import { fieldsOf } from '../rules/validation.ts'

const ROLES = ['admin', 'ingest', 'approver', 'read'] as const

export function Keys() {
  const can = useCan()
  const client = useQueryClient()
  const [secret, setSecret] = useState<string | null>(null)
  const [ended, setEnded] = useState<Key | null>(null)
  const query = useQuery(keysQuery)
  const refresh = () => client.invalidateQueries({ queryKey: ['keys'] })
  const rotate = useMutation({
    mutationFn: (id: string) => remit.rotateKey({ params: { id } }),
    onSuccess: ({ secret: made }) => {
      setSecret(made)
      return refresh()
    },
  })
  const revoke = useMutation({
    mutationFn: (id: string) => remit.revokeKey({ params: { id } }),
    onSuccess: () => {
      setEnded(null)
      return refresh()
    },
  })
  return (
    <Stack>
      {can('POST /v1/keys') && (
        <NewKey
          onMade={(made) => {
            setSecret(made)
            void refresh()
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
                cell: ({ revoked_at: at }) => (
                  <Badge tone={at === null ? 'allow' : undefined}>
                    {at === null ? t.settings.keys.active : t.settings.keys.revoked}
                  </Badge>
                ),
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
                        <Button
                          tone="danger"
                          aria-label={`${t.settings.keys.revoke} ${key.id}`}
                          onClick={() => setEnded(key)}
                        >
                          {t.settings.keys.revoke}
                        </Button>
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
      <Modal
        isOpen={ended !== null}
        title={t.settings.keys.revokeTitle}
        onClose={() => setEnded(null)}
        footer={
          <>
            <Button onClick={() => setEnded(null)}>{t.common.cancel}</Button>
            <Button
              tone="danger"
              disabled={revoke.isPending}
              onClick={() => ended && revoke.mutate(ended.id)}
            >
              {t.settings.keys.revoke}
            </Button>
          </>
        }
      >
        {ended && <Id>{ended.id}</Id>}
        <p>{t.settings.keys.revokeText}</p>
        {revoke.error && <Failure error={revoke.error} />}
      </Modal>
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
  const { text, choice } = fieldsOf({
    draft,
    onDraft: setDraft,
    faults: fieldErrorsOf(create.error),
  })
  return (
    <Card title={t.settings.keys.create}>
      <Stack>
        <Row>
          <Select
            {...choice('role')}
            label={t.settings.keys.role}
            options={ROLES.map((one) => [one, one])}
          />
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
