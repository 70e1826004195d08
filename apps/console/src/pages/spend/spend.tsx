import type { SpendLimit, SpendHold, SpendHistory } from '@remit/contract'
import { WINDOWS } from '@remit/contract/values'
import { useQuery, useInfiniteQuery, useMutation } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useState, useMemo } from 'react'
import { useCan } from '../../api/session.ts'
import { usd } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Page, Stack, TabLinks, Table, TableOf, Card, Row } from '../../ui/layout.tsx'
import { CurlButton, Empty, Loaded, Failure } from '../../ui/states.tsx'
import { Literal, Ago, Id } from '../../ui/values.tsx'
import { Budgets } from './budgets.tsx'
import { LimitDialog, Used } from './limit-dialog.tsx'
import { remit } from '../../api/client.ts'
import { limitsQuery, pagesQuery } from '../../api/queries.ts'
import { refresh } from '../../api/query-client.ts'
import { everyPage } from '../../format/csv.ts'
import { announce } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Select } from '../../ui/field.tsx'
import { Figure } from '../../ui/figure.tsx'

const LIMIT = { method: 'POST', path: '/v1/spend-limits/payer', body: { daily_usd: 100 } }

export function Spend() {
  const can = useCan()
  const { agent, tab = 'limits' } = useSearch({ from: '/spend' })
  const [edited, setEdited] = useState<SpendLimit | 'new' | null>(null)
  const mayChange = can('POST /v1/spend-limits/{id}')
  const isBudgets = tab === 'budgets'
  return (
    <Page
      title={t.spend.title}
      actions={
        <>
          <CurlButton request={isBudgets ? '/v1/budgets' : '/v1/spend-limits'} />
          {isBudgets && can('PUT /v1/budgets/{id}') && (
            <Link to="/spend/budgets/$id" params={{ id: 'new' }} className={buttonClass('primary')}>
              {t.budgets.new}
            </Link>
          )}
          {mayChange && !isBudgets && (
            <Button tone="primary" onClick={() => setEdited('new')}>
              {t.spend.set}
            </Button>
          )}
        </>
      }
      tabs={
        <TabLinks
          label={t.spend.title}
          current={tab}
          tabs={[
            { label: t.budgets.limits, value: 'limits' },
            { label: t.budgets.title, value: 'budgets' },
          ]}
        />
      }
    >
      {isBudgets ? (
        <Budgets />
      ) : (
        <AgentLimits agent={agent} onEdit={mayChange ? setEdited : null} />
      )}
      {edited !== null && (
        <LimitDialog limit={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />
      )}
    </Page>
  )
}

interface AgentLimitsProps {
  readonly agent: string | undefined
  readonly onEdit: ((limit: SpendLimit) => void) | null
}

function AgentLimits({ agent, onEdit }: AgentLimitsProps) {
  const can = useCan()
  const query = useQuery(limitsQuery)
  return (
    <Loaded query={query}>
      {({ data }) => (
        <Stack>
          {data.length === 0 ? (
            <Empty title={t.spend.empty} request={LIMIT}>
              {t.spend.emptyText}
            </Empty>
          ) : (
            <Limits limits={data} onEdit={onEdit} />
          )}
          {can('GET /v1/spend-limits/{id}/history') && (
            <BurnDown agent={agent ?? data[0]?.agent_id} />
          )}
          {can('GET /v1/spend-holds') && <Holds agent={agent} />}
        </Stack>
      )}
    </Loaded>
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
        ...WINDOWS.map(({ name, cap }) => ({
          name: t.spend.windows[name].now,
          value: ({ spent }: SpendLimit) => spent[name].usd + spent[name].held_usd,
          cell: (limit: SpendLimit) => <Used used={limit.spent[name]} cap={limit[cap]} />,
        })),
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

/** Amounts that wait for a report of their cost; of one agent where it is given. */
function Holds({ agent }: { agent: string | undefined }) {
  const can = useCan()
  const read = (cursor: string | undefined, signal?: AbortSignal) =>
    remit.listSpendHolds({
      query: { limit: 100, cursor, agent_id: agent },
      ...(signal && { signal }),
    })
  const query = useInfiniteQuery(pagesQuery(['spend', 'holds', agent], read))
  const release = useMutation({
    mutationFn: ({ decision_id }: SpendHold) =>
      remit.appendEntry({ body: { action: 'spend.release', decision_id, settle: 'release' } }),
    onSuccess: () => announce(t.spend.released),
    onSettled: () => refresh('spend'),
  })
  const releases = {
    name: t.common.actions,
    end: true,
    cell: (hold: SpendHold) => (
      <Button
        tone="quiet"
        disabled={release.isPending}
        aria-label={`${t.spend.release} ${hold.decision_id}`}
        onClick={() => release.mutate(hold)}
      >
        {t.spend.release}
      </Button>
    ),
  }
  const path = `/v1/spend-holds${agent === undefined ? '' : `?agent_id=${encodeURIComponent(agent)}`}`
  return (
    <Card title={t.spend.holds} actions={<CurlButton request={path} />}>
      <Stack>
        <p className={ui['hint']}>{t.spend.holdsHint}</p>
        {release.error && <Failure error={release.error} />}
        <TableOf<SpendHold>
          query={query}
          empty={t.spend.noHolds}
          label={t.spend.holds}
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
            ...(can('POST /v1/ledger') ? [releases] : []),
          ]}
        />
      </Stack>
    </Card>
  )
}

type Window = 'day' | 'month'
const COURSES = Object.entries(t.spend.courses)

/** The spend of one agent in a window, with its cap and where a straight line leads. */
function BurnDown({ agent }: { agent: string | undefined }) {
  const [window, setWindow] = useState<Window>('day')
  const query = useQuery({
    queryKey: ['spend', 'history', agent, window],
    enabled: agent !== undefined,
    queryFn: ({ signal }) =>
      remit.getSpendHistory({ params: { id: agent ?? '' }, query: { window }, signal }),
  })
  if (agent === undefined) return null
  return (
    <Stack>
      <Row>
        <Select
          label={t.spend.window}
          value={window}
          options={COURSES}
          onValue={(value) => setWindow(value === 'month' ? 'month' : 'day')}
        />
      </Row>
      <Loaded
        query={query}
        missing={<Empty title={t.spend.noLimitOf(agent)}>{t.spend.noLimitText}</Empty>}
      >
        {(history) => <Drawn agent={agent} history={history} isDay={window === 'day'} />}
      </Loaded>
    </Stack>
  )
}

interface DrawnProps {
  readonly agent: string
  readonly history: SpendHistory
  readonly isDay: boolean
}

function Drawn({ agent, history, isDay }: DrawnProps) {
  const { times, series } = useMemo(() => {
    const line = forecastOf(history, isDay)
    return {
      times: line.times,
      series: [
        { label: t.spend.spent, color: '--accent', values: line.spent },
        { label: t.spend.forecast, color: '--muted', values: line.forecast, isDashed: true },
        ...(history.limit_usd === null
          ? []
          : [
              {
                label: t.spend.cap,
                color: '--deny',
                values: line.times.map(() => history.limit_usd),
              },
            ]),
      ],
    }
  }, [history, isDay])
  return (
    <Figure
      title={t.spend.history(agent)}
      timeName={t.spend.at}
      times={times}
      series={series}
      unit={usd}
    />
  )
}

interface Forecast {
  /** Seconds since 1970. */
  readonly times: readonly number[]
  readonly spent: readonly (number | null)[]
  readonly forecast: readonly (number | null)[]
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The end of the UTC day or month of a time. */
function endOf(at: number, isDay: boolean): number {
  const date = new Date(at)
  return isDay
    ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate() + 1)
    : Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}

/**
 * The points of a window, and a straight line from its start through now to its end: no seasons, no
 * weekdays, labelled as such.
 */
function forecastOf({ data }: SpendHistory, isDay: boolean, now = Date.now()): Forecast {
  const step = isDay ? HOUR_MS : DAY_MS
  const points = data.map(({ at, spent_usd, held_usd }) => ({
    at: Date.parse(at),
    used: spent_usd + held_usd,
  }))
  const [start, last] = [points[0]?.at ?? now, points.at(-1)]
  const rate = last && now > start ? last.used / (now - start) : 0
  const times: number[] = points.map(({ at }) => at)
  for (let at = (last?.at ?? start) + step; at <= endOf(start, isDay); at += step) times.push(at)
  return {
    times: times.map((at) => at / 1000),
    spent: times.map((_, i) => points[i]?.used ?? null),
    forecast: times.map((at, i) =>
      i + 1 < points.length ? null : Math.max(0, rate * (at - start)),
    ),
  }
}
