import { useQuery } from '@tanstack/react-query'
import { Navigate, useNavigate, useSearch } from '@tanstack/react-router'
import { remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { count } from '../../format/money.ts'
import { isShown, PAGES } from '../../shell/pages.ts'
import { t } from '../../texts.ts'
import { Input, Select } from '../../ui/field.tsx'
import { Page, Stack } from '../../ui/layout.tsx'
import { CurlButton } from '../../ui/states.tsx'
import { Tile, Tiles } from '../../ui/tile.tsx'
import { pendingQuery } from '../approvals/queries.ts'
import { DecisionChart } from './decision-chart.tsx'
import { DecisionStream } from './decision-stream.tsx'
import { isMatch } from './filter.ts'
import type { LiveFilter } from './filter.ts'
import { useDecisions } from './use-decisions.ts'

const DECISIONS = [
  ['', t.common.all],
  ['allow', 'allow'],
  ['deny', 'deny'],
  ['needs_approval', 'needs approval'],
] as const

/** The first page; without a ledger the first one that the session has. */
export function Live() {
  const can = useCan()
  if (can('GET /v1/ledger')) return <LivePage />
  const first = PAGES.find((page) => page.to !== '/' && isShown(page, can))
  return <Navigate to={first?.to ?? '/settings'} replace />
}

function LivePage() {
  const filter: LiveFilter = useSearch({ from: '/' })
  const can = useCan()
  const navigate = useNavigate()
  const decisions = useDecisions()
  const set = (name: keyof LiveFilter) => (value: string) =>
    void navigate({
      to: '/',
      search: { ...filter, [name]: value || undefined } as never,
      replace: true,
    })
  return (
    <Page
      title={t.live.title}
      actions={
        <CurlButton
          request={() => ({ method: 'GET', path: '/v1/ledger?kind=authorization.decided' })}
        />
      }
    >
      <Stack>
        <Counters decisions={decisions} />
        {can('GET /v1/stats') && <DecisionChart />}
        <DecisionStream
          decisions={decisions}
          isMatch={(entry) => isMatch(filter, entry)}
          filters={
            <>
              <Select
                label={t.live.decision}
                options={DECISIONS}
                value={filter.decision ?? ''}
                onValue={set('decision')}
              />
              <Input label={t.live.agent} value={filter.agent ?? ''} onValue={set('agent')} />
              <Input label={t.live.action} value={filter.action ?? ''} onValue={set('action')} />
              <Input label={t.live.reason} value={filter.reason ?? ''} onValue={set('reason')} />
            </>
          }
        />
      </Stack>
    </Page>
  )
}

const MINUTE_MS = 60_000

function Counters({ decisions: { stream, now } }: { decisions: ReturnType<typeof useDecisions> }) {
  const can = useCan()
  const pending = useQuery({ ...pendingQuery, enabled: can('GET /v1/approvals') })
  const limits = useQuery({
    queryKey: ['spend', 'limits'],
    enabled: can('GET /v1/spend-limits'),
    queryFn: ({ signal }) => remit.listSpendLimits({ query: { limit: 1_000 }, signal }),
  })
  const checkpoint = useQuery({
    queryKey: ['ledger', 'checkpoint'],
    queryFn: ({ signal }) => remit.getCheckpoint({ signal }),
    refetchInterval: 15_000,
  })
  const recent = stream.shown.filter(({ recorded_at }) => Date.parse(recorded_at) > now - MINUTE_MS)
  const of = (decision: string) => count(recent.filter((one) => one.decision === decision).length)
  const high = limits.data?.data.filter(({ spent, daily_usd, monthly_usd }) => {
    const isHigh = (used: { usd: number; held_usd: number }, cap: number | null) =>
      cap !== null && used.usd + used.held_usd >= cap * 0.8
    return isHigh(spent.day, daily_usd) || isHigh(spent.month, monthly_usd)
  })
  const size = Number(checkpoint.data?.split('\n')[1] ?? 0)
  return (
    <Tiles>
      <Tile name={t.live.allow} value={of('allow')} note={t.live.perMinute} />
      <Tile name={t.live.deny} value={of('deny')} note={t.live.perMinute} />
      <Tile name={t.live.needs_approval} value={of('needs_approval')} note={t.live.perMinute} />
      {can('GET /v1/approvals') && (
        <Tile name={t.live.pending} value={pending.data?.data.length ?? '–'} to="/approvals" />
      )}
      {can('GET /v1/spend-limits') && (
        <Tile name={t.live.limits} value={high?.length ?? '–'} to="/spend" />
      )}
      <Tile
        name={t.live.ledger}
        value={size > 0 ? count(size - 1) : '–'}
        note={size > 0 ? t.live.signed(count(size)) : ''}
        to="/ledger"
      />
    </Tiles>
  )
}
