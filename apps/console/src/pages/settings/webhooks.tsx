import type { Webhook, WebhookEvent, WebhookFormat, Delivery } from '@remit/contract'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { listQuery } from '../../api/queries.ts'
import { refresh } from '../../api/query-client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { ActionForm, ConfirmDelete } from '../../ui/action.tsx'
import { Checkbox, Input, Select } from '../../ui/field.tsx'
import { Card, Grid, Row, Stack, TableOf } from '../../ui/layout.tsx'
import { SecretDialog } from '../../ui/secret-dialog.tsx'
import { Failure } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import { Described, Id, Literal } from '../../ui/values.tsx'
import ui from '../../ui/ui.module.css'
import { fieldsOf } from '../rules/validation.ts'
import { shortUtc } from '../../format/time.ts'

const HOOK = {
  method: 'POST',
  path: '/v1/webhooks',
  body: { url: 'https://hooks.example.com/remit', events: ['approval.requested'] },
}

/** Every event of the contract: the texts have one for each. */
const EVENTS = Object.keys(t.settings.webhooks.eventTexts) as readonly WebhookEvent[]

const FORMATS = Object.entries(t.settings.webhooks.formats) as [WebhookFormat, string][]

export function Webhooks() {
  const can = useCan()
  const [secret, setSecret] = useState<string | null>(null)
  const [open, setOpen] = useState<string | null>(null)
  const query = useQuery(listQuery('webhooks', remit.listWebhooks, 200))
  const test = useMutation({
    mutationFn: (id: string) => remit.testWebhook({ params: { id } }),
    onSuccess: (_, id) => {
      announce(t.settings.webhooks.tested)
      setOpen(id)
      return refresh('webhooks')
    },
  })
  return (
    <Stack>
      {can('POST /v1/webhooks') && (
        <NewWebhook
          onMade={(made) => {
            setSecret(made)
            void refresh('webhooks')
          }}
        />
      )}
      {test.error && <Failure error={test.error} />}
      <TableOf<Webhook>
        query={query}
        empty={{
          title: t.settings.webhooks.empty,
          text: t.settings.webhooks.emptyText,
          request: HOOK,
        }}
        label={t.settings.tabs.webhooks}
        rowKey={({ id }) => id}
        csv="webhooks"
        columns={[
          {
            name: t.settings.webhooks.format,
            value: ({ format }) => t.settings.webhooks.formats[format],
          },
          {
            name: t.settings.webhooks.url,
            value: ({ url }) => url,
            cell: ({ url, description }) => <Described as={description} id={url} />,
          },
          {
            name: t.settings.webhooks.description,
            value: ({ description }) => description,
            isFileOnly: true,
          },
          {
            name: t.settings.webhooks.events,
            value: ({ events }) =>
              events.length === EVENTS.length ? t.settings.webhooks.allEvents : events.join(', '),
          },
          {
            name: t.settings.webhooks.state,
            value: ({ enabled, disabled_reason: why }) =>
              enabled ? t.settings.on : (why ?? t.settings.off),
            badge: ({ enabled }) => (enabled ? 'allow' : undefined),
          },
          {
            name: t.common.actions,
            end: true,
            cell: ({ id, url }) => (
              <Row>
                {can('POST /v1/webhooks/{id}/test') && (
                  <Button tone="quiet" onClick={() => test.mutate(id)}>
                    {t.settings.webhooks.test}
                  </Button>
                )}
                {can('GET /v1/webhooks/{id}/deliveries') && (
                  <Button
                    tone="quiet"
                    aria-expanded={open === id}
                    onClick={() => setOpen(open === id ? null : id)}
                  >
                    {t.settings.webhooks.deliveries}
                  </Button>
                )}
                {can('DELETE /v1/webhooks/{id}') && (
                  <ConfirmDelete
                    title={t.settings.webhooks.removeTitle}
                    text={t.settings.webhooks.removeText}
                    verb={t.settings.webhooks.remove}
                    label={`${t.settings.webhooks.remove} ${url}`}
                    request={() => ({ method: 'DELETE', path: `/v1/webhooks/${id}` })}
                    onDelete={() => remit.deleteWebhook({ params: { id } })}
                    onDeleted={() => {
                      setOpen(null)
                      return refresh('webhooks')
                    }}
                  >
                    <Id>{url}</Id>
                  </ConfirmDelete>
                )}
              </Row>
            ),
          },
        ]}
      />
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
  const [draft, setDraft] = useState({
    format: 'standard' as WebhookFormat,
    url: '',
    description: '',
    events: EVENTS,
  })
  const { format, url, events } = draft
  const description = draft.description.trim()
  const body = {
    url,
    ...(format !== 'standard' && { format }),
    events: [...events],
    ...(description !== '' && { description }),
  }
  const create = useMutation({
    mutationFn: () => remit.createWebhook({ body }),
    onSuccess: ({ secret }) => {
      setDraft((now) => ({ ...now, url: '', description: '' }))
      onMade(secret)
    },
  })
  const { set, text, choice } = fieldsOf({ draft, onDraft: setDraft, error: create.error })
  return (
    <Card title={t.settings.webhooks.create}>
      <ActionForm
        request={() => ({ method: 'POST', path: '/v1/webhooks', body })}
        verb={t.settings.webhooks.create}
        isDisabled={url === '' || events.length === 0}
        action={create}
      >
        <Grid>
          <Select
            {...choice('format')}
            label={t.settings.webhooks.format}
            options={FORMATS}
            onValue={(value) => {
              const chosen = FORMATS.find(([one]) => one === value)?.[0] ?? 'standard'
              set({
                format: chosen,
                events: chosen === 'standard' ? EVENTS : ['approval.requested'],
              })
            }}
          />
          <Input
            {...text('url')}
            label={t.settings.webhooks.url}
            hint={t.settings.webhooks.urlHints[format]}
          />
          <Input {...text('description')} label={t.settings.webhooks.description} />
        </Grid>
        <fieldset>
          <legend className={ui['legend']}>{t.settings.webhooks.events}</legend>
          <Grid>
            {EVENTS.map((event) => (
              <Checkbox
                key={event}
                label={event}
                hint={t.settings.webhooks.eventTexts[event]}
                isOn={events.includes(event)}
                onToggle={(isOn) =>
                  set({
                    events: EVENTS.filter((one) => (one === event ? isOn : events.includes(one))),
                  })
                }
              />
            ))}
          </Grid>
        </fieldset>
      </ActionForm>
    </Card>
  )
}

const POLL_MS = 2_000
const TONES = { pending: 'wait', delivered: 'allow', failed: 'deny' } as const

function Deliveries({ webhook }: { webhook: string }) {
  const can = useCan()
  const query = useQuery({
    queryKey: ['webhooks', webhook, 'deliveries'],
    queryFn: ({ signal }) => remit.listDeliveries({ params: { id: webhook }, signal }),
    refetchInterval: ({ state }) =>
      state.data?.data.some((one) => one.state === 'pending') ? POLL_MS : false,
  })
  const again = useMutation({
    mutationFn: (id: string) => remit.redeliver({ params: { id: webhook, deliveryID: id } }),
    onSettled: () => refresh('webhooks', webhook),
  })
  return (
    <Card title={t.settings.webhooks.deliveries}>
      {again.error && <Failure error={again.error} />}
      <TableOf<Delivery>
        query={query}
        empty={t.settings.webhooks.noDeliveries}
        label={t.settings.webhooks.deliveries}
        rowKey={({ id }) => id}
        csv={`deliveries-${webhook}`}
        columns={[
          { name: t.settings.webhooks.event, value: ({ event }) => event },
          { name: t.common.created, value: ({ created_at }) => created_at, as: 'time' },
          {
            name: t.settings.webhooks.state,
            value: ({ state }) => state,
            badge: ({ state }) => TONES[state],
          },
          {
            name: t.settings.webhooks.attempts,
            value: ({ attempts }) => attempts.length,
            cell: (row) => <Attempts delivery={row} />,
          },
          {
            name: t.settings.webhooks.next,
            value: ({ next_attempt_at: at }) => at,
            as: 'time',
          },
          {
            name: t.common.actions,
            end: true,
            cell: ({ id }) =>
              can('POST /v1/webhooks/{id}/deliveries/{deliveryID}/redeliver') && (
                <Button tone="quiet" disabled={again.isPending} onClick={() => again.mutate(id)}>
                  {t.settings.webhooks.redeliver}
                </Button>
              ),
          },
        ]}
      />
    </Card>
  )
}

/** The last attempt; the earlier ones unfold. */
function Attempts({ delivery: { attempts } }: { delivery: Delivery }) {
  const last = attempts.at(-1)
  if (!last) return '–'
  const lineOf = ({ at, status, error, duration_ms }: typeof last) =>
    t.settings.webhooks.attempt(shortUtc(at), error ?? String(status ?? '–'), duration_ms)
  if (attempts.length === 1) return <Literal>{lineOf(last)}</Literal>
  return (
    <details>
      <summary>
        <Literal>{`${attempts.length} · ${lineOf(last)}`}</Literal>
      </summary>
      <ul>
        {attempts.map((one) => (
          <Literal as="li" key={one.at}>
            {lineOf(one)}
          </Literal>
        ))}
      </ul>
    </details>
  )
}
