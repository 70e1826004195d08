import type { SpendHold } from '@remit/contract'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { everyPage } from '../../format/csv.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Stack, Table } from '../../ui/layout.tsx'
import { CurlButton, Failure, Loaded } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Ago, Id } from '../../ui/values.tsx'

/** Amounts that wait for a report of their cost; of one agent where it is given. */
export function Holds({ agent }: { agent: string | undefined }) {
  const can = useCan()
  const client = useQueryClient()
  const read = (cursor: string | undefined, signal?: AbortSignal) =>
    remit.listSpendHolds({
      query: { limit: 100, cursor, agent_id: agent },
      ...(signal && { signal }),
    })
  const query = useInfiniteQuery({
    queryKey: ['spend', 'holds', agent],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => read(pageParam || undefined, signal),
    getNextPageParam: ({ next_cursor }) => next_cursor,
  })
  const release = useMutation({
    mutationFn: ({ decision_id }: SpendHold) =>
      remit.appendEntry({ body: { action: 'spend.release', decision_id, settle: 'release' } }),
    onSuccess: () => announce(t.spend.released),
    onSettled: () => client.invalidateQueries({ queryKey: ['spend'] }),
  })
  const path = `/v1/spend-holds${agent === undefined ? '' : `?agent_id=${encodeURIComponent(agent)}`}`
  return (
    <Card title={t.spend.holds} actions={<CurlButton request={() => ({ method: 'GET', path })} />}>
      <Stack>
        <p className={ui['hint']}>{t.spend.holdsHint}</p>
        {release.error && <Failure error={release.error} />}
        <Loaded query={query}>
          {({ pages }) => {
            const holds = pages.flatMap(({ data }) => data)
            if (holds.length === 0) return <p className={ui['muted']}>{t.spend.noHolds}</p>
            return (
              <Stack>
                <Table<SpendHold>
                  label={t.spend.holds}
                  rows={holds}
                  rowKey={({ decision_id }) => decision_id}
                  csv="holds"
                  all={() => everyPage(read)}
                  columns={[
                    {
                      name: t.spend.decision,
                      value: ({ decision_id }) => decision_id,
                      cell: ({ decision_id }) => (
                        <Link to="/decisions/$id" params={{ id: decision_id }}>
                          <Id>{decision_id}</Id>
                        </Link>
                      ),
                    },
                    { name: t.spend.agent, value: ({ agent_id }) => agent_id },
                    {
                      name: t.spend.amount,
                      end: true,
                      value: ({ amount_usd }) => amount_usd,
                      as: 'money',
                    },
                    {
                      name: t.spend.age,
                      value: ({ held_at }) => held_at,
                      cell: ({ held_at }) => <Ago at={held_at} />,
                    },
                    { name: t.spend.expires, value: ({ expires_at: at }) => at, as: 'time' },
                    {
                      name: t.common.actions,
                      end: true,
                      cell: (hold) =>
                        can('POST /v1/ledger') && (
                          <Button
                            tone="quiet"
                            disabled={release.isPending}
                            aria-label={`${t.spend.release} ${hold.decision_id}`}
                            onClick={() => release.mutate(hold)}
                          >
                            {t.spend.release}
                          </Button>
                        ),
                    },
                  ]}
                />
                {query.hasNextPage && (
                  <Button onClick={() => void query.fetchNextPage()}>{t.common.more}</Button>
                )}
              </Stack>
            )
          }}
        </Loaded>
      </Stack>
    </Card>
  )
}
