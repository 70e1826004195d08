import type { SpendLimit } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useCan } from '../../api/session.ts'
import { usd } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Page, Stack, Table } from '../../ui/layout.tsx'
import { CurlButton, Empty, Loaded } from '../../ui/states.tsx'
import { Meter } from '../../ui/tile.tsx'
import { Literal } from '../../ui/values.tsx'
import { BurnDown } from './burn-down.tsx'
import { Holds } from './holds.tsx'
import { LimitDialog } from './limit-dialog.tsx'
import { limitsQuery } from './queries.ts'

const LIMIT = { method: 'POST', path: '/v1/spend-limits/payer', body: { daily_usd: 100 } }

export function Spend() {
  const can = useCan()
  const { agent } = useSearch({ from: '/spend' })
  const [edited, setEdited] = useState<SpendLimit | 'new' | null>(null)
  const query = useQuery(limitsQuery)
  const mayChange = can('POST /v1/spend-limits/{id}')
  return (
    <Page
      title={t.spend.title}
      actions={
        <>
          <CurlButton request={() => ({ method: 'GET', path: '/v1/spend-limits' })} />
          {mayChange && (
            <Button tone="primary" onClick={() => setEdited('new')}>
              {t.spend.set}
            </Button>
          )}
        </>
      }
    >
      <Loaded query={query}>
        {({ data }) => (
          <Stack>
            {data.length === 0 ? (
              <Empty title={t.spend.empty} request={LIMIT}>
                {t.spend.emptyText}
              </Empty>
            ) : (
              <Limits limits={data} onEdit={mayChange ? setEdited : null} />
            )}
            {can('GET /v1/spend-limits/{id}/history') && (
              <BurnDown agent={agent ?? data[0]?.agent_id} />
            )}
            {can('GET /v1/spend-holds') && <Holds agent={agent} />}
          </Stack>
        )}
      </Loaded>
      {edited !== null && (
        <LimitDialog limit={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />
      )}
    </Page>
  )
}

interface LimitsProps {
  readonly limits: readonly SpendLimit[]
  readonly onEdit: ((limit: SpendLimit) => void) | null
}

function Limits({ limits, onEdit }: LimitsProps) {
  return (
    <Table<SpendLimit>
      label={t.spend.limits}
      rows={limits}
      rowKey={({ agent_id }) => agent_id}
      csv="spend-limits"
      columns={[
        {
          name: t.spend.agent,
          value: ({ agent_id }) => agent_id,
          cell: ({ agent_id }) => (
            <Link to="/spend" search={{ agent: agent_id }}>
              <Literal>{agent_id}</Literal>
            </Link>
          ),
        },
        {
          name: t.spend.day,
          value: ({ spent: { day } }) => day.usd + day.held_usd,
          cell: ({ spent, daily_usd }) => <Used used={spent.day} cap={daily_usd} />,
        },
        {
          name: t.spend.month,
          value: ({ spent: { month } }) => month.usd + month.held_usd,
          cell: ({ spent, monthly_usd }) => <Used used={spent.month} cap={monthly_usd} />,
        },
        {
          name: t.spend.held,
          end: true,
          value: ({ spent }) => spent.month.held_usd,
          as: 'money',
        },
        ...(onEdit
          ? [
              {
                name: t.common.actions,
                end: true,
                cell: (limit: SpendLimit) => (
                  <Button
                    tone="quiet"
                    aria-label={`${t.spend.set} ${limit.agent_id}`}
                    onClick={() => onEdit(limit)}
                  >
                    {t.spend.set}
                  </Button>
                ),
              },
            ]
          : []),
      ]}
    />
  )
}

interface UsedProps {
  readonly used: { readonly usd: number; readonly held_usd: number }
  readonly cap: number | null
}

function Used({ used: { usd: settled, held_usd: held }, cap }: UsedProps) {
  const total = settled + held
  if (cap === null) return <>{`${usd(total)} · ${t.spend.noCap}`}</>
  return (
    <>
      {t.spend.of(usd(total), usd(cap))}
      <Meter share={cap === 0 ? 1 : total / cap} />
    </>
  )
}
