import type { Webhook } from '@remit/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldErrorsOf, remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { Card, Row, Stack, Table } from '../../ui/layout.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { CurlButton, Empty, Failure, Loaded } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import { Badge, Id, Literal } from '../../ui/values.tsx'
import { Deliveries } from './deliveries.tsx'

const HOOK = {
  method: 'POST',
  path: '/v1/webhooks',
  body: { url: 'https://hooks.example.com/remit', events: ['approval.requested'] },
}

export function Webhooks() {
  const can = useCan()
  const client = useQueryClient()
  const [secret, setSecret] = useState<string | null>(null)
  const [open, setOpen] = useState<string | null>(null)
  const query = useQuery({
    queryKey: ['webhooks'],
    queryFn: ({ signal }) => remit.listWebhooks({ query: { limit: 200 }, signal }),
  })
  const refresh = () => client.invalidateQueries({ queryKey: ['webhooks'] })
  const remove = useMutation({
    mutationFn: (id: string) => remit.deleteWebhook({ params: { id } }),
    onSuccess: refresh,
  })
  const test = useMutation({
    mutationFn: (id: string) => remit.testWebhook({ params: { id } }),
    onSuccess: () => announce(t.settings.webhooks.tested),
  })
  const error = remove.error ?? test.error
  return (
    <Stack>
      {can('POST /v1/webhooks') && (
        <NewWebhook
          onMade={(made) => {
            setSecret(made)
            void refresh()
          }}
        />
      )}
      {error && <Failure error={error} />}
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={t.settings.webhooks.empty} request={HOOK}>
              {t.settings.webhooks.emptyText}
            </Empty>
          ) : (
            <Table<Webhook>
              label={t.settings.tabs.webhooks}
              rows={data}
              rowKey={({ id }) => id}
              columns={[
                { name: t.settings.webhooks.url, cell: ({ url }) => <Id>{url}</Id> },
                {
                  name: t.settings.webhooks.events,
                  cell: ({ events }) => <Literal>{events.join(', ')}</Literal>,
                },
                {
                  name: t.settings.webhooks.state,
                  cell: ({ enabled, disabled_reason }) => (
                    <Badge tone={enabled ? 'allow' : undefined}>
                      {enabled ? t.settings.on : (disabled_reason ?? t.settings.off)}
                    </Badge>
                  ),
                },
                {
                  name: t.common.actions,
                  end: true,
                  cell: ({ id }) => (
                    <Row>
                      {can('POST /v1/webhooks/{id}/test') && (
                        <Button tone="quiet" onClick={() => test.mutate(id)}>
                          {t.settings.webhooks.test}
                        </Button>
                      )}
                      {can('GET /v1/webhooks/{id}/deliveries') && (
                        <Button tone="quiet" onClick={() => setOpen(open === id ? null : id)}>
                          {t.settings.webhooks.deliveries}
                        </Button>
                      )}
                      {can('DELETE /v1/webhooks/{id}') && (
                        <Button tone="danger" onClick={() => remove.mutate(id)}>
                          {t.settings.webhooks.remove}
                        </Button>
                      )}
                    </Row>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      {open !== null && <Deliveries webhook={open} />}
      <SecretDialog
        title={t.settings.webhooks.secretTitle}
        secret={secret}
        onDone={() => setSecret(null)}
      />
    </Stack>
  )
}

function NewWebhook({ onMade }: { onMade: (secret: string | null) => void }) {
  const [url, setUrl] = useState('')
  const body = { url }
  const create = useMutation({
    mutationFn: () => remit.createWebhook({ body }),
    onSuccess: ({ secret }) => {
      setUrl('')
      onMade(secret)
    },
  })
  const fault = fieldErrorsOf(create.error).find(({ path }) => path === 'url')?.message
  return (
    <Card title={t.settings.webhooks.create}>
      <Stack>
        <Row>
          <Input label={t.settings.webhooks.url} value={url} fault={fault} onValue={setUrl} />
          <Button
            tone="primary"
            disabled={create.isPending || url === ''}
            onClick={() => create.mutate()}
          >
            {t.settings.webhooks.create}
          </Button>
          <CurlButton request={() => ({ method: 'POST', path: '/v1/webhooks', body })} />
        </Row>
        {create.error && <Failure error={create.error} />}
      </Stack>
    </Card>
  )
}
