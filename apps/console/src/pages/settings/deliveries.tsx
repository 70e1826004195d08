import type { Delivery } from '@remit/contract'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { shortUtc } from '../../format/time.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Table } from '../../ui/layout.tsx'
import { Failure, Loaded } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Literal } from '../../ui/values.tsx'

const POLL_MS = 2_000
const TONES = { pending: 'wait', delivered: 'allow', failed: 'deny' } as const

export function Deliveries({ webhook }: { webhook: string }) {
  const can = useCan()
  const client = useQueryClient()
  const query = useQuery({
    queryKey: ['webhooks', webhook, 'deliveries'],
    queryFn: ({ signal }) => remit.listDeliveries({ params: { id: webhook }, signal }),
    refetchInterval: ({ state }) =>
      state.data?.data.some((one) => one.state === 'pending') ? POLL_MS : false,
  })
  const again = useMutation({
    mutationFn: (id: string) => remit.redeliver({ params: { id: webhook, deliveryID: id } }),
    onSettled: () => client.invalidateQueries({ queryKey: ['webhooks', webhook] }),
  })
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
              csv={`deliveries-${webhook}`}
              columns={[
                { name: t.settings.webhooks.event, value: ({ event }) => event },
                { name: t.common.created, value: ({ created_at }) => created_at, as: 'time' },
                {
                  name: t.settings.webhooks.state,
                  value: ({ state }) => state,
                  cell: ({ state }) => <Badge tone={TONES[state]}>{state}</Badge>,
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
                      <Button
                        tone="quiet"
                        disabled={again.isPending}
                        onClick={() => again.mutate(id)}
                      >
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
          <li key={one.at}>
            <Literal>{lineOf(one)}</Literal>
          </li>
        ))}
      </ul>
    </details>
  )
}
