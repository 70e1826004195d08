import type { Delivery } from '@remit/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Table } from '../../ui/layout.tsx'
import { Failure, Loaded } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Literal, Time } from '../../ui/values.tsx'

const TONES = { pending: 'wait', delivered: 'allow', failed: 'deny' } as const

export function Deliveries({ webhook }: { webhook: string }) {
  const can = useCan()
  const client = useQueryClient()
  const query = useQuery({
    queryKey: ['webhooks', webhook, 'deliveries'],
    queryFn: ({ signal }) => remit.listDeliveries({ params: { id: webhook }, signal }),
  })
  const again = useMutation({
    mutationFn: (id: string) => remit.redeliver({ params: { id: webhook, deliveryID: id } }),
    onSettled: () => client.invalidateQueries({ queryKey: ['webhooks', webhook] }),
  })
  const last = ({ attempts }: Delivery) => attempts.at(-1)
  return (
    <Card title={t.settings.webhooks.deliveries}>
      {again.error && <Failure error={again.error} />}
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <p className={ui['muted']}>{t.settings.webhooks.noDeliveries}</p>
          ) : (
            <Table<Delivery>
              label={t.settings.webhooks.deliveries}
              rows={data}
              rowKey={({ id }) => id}
              columns={[
                {
                  name: t.settings.webhooks.event,
                  cell: ({ event }) => <Literal>{event}</Literal>,
                },
                { name: t.common.created, cell: ({ created_at }) => <Time at={created_at} /> },
                {
                  name: t.settings.webhooks.state,
                  cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge>,
                },
                {
                  name: t.settings.webhooks.attempts,
                  cell: (row) => (
                    <Literal>
                      {`${row.attempts.length} · ${last(row)?.error ?? last(row)?.status ?? '–'}`}
                    </Literal>
                  ),
                },
                {
                  name: t.common.actions,
                  end: true,
                  cell: ({ id }) =>
                    can('POST /v1/webhooks/{id}/deliveries/{deliveryID}/redeliver') && (
                      <Button tone="quiet" onClick={() => again.mutate(id)}>
                        {t.settings.webhooks.redeliver}
                      </Button>
                    ),
                },
              ]}
            />
          )
        }
      </Loaded>
    </Card>
  )
}
