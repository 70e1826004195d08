import type { ReadyReport } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Pair } from '../../ui/tile.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Bars } from './bars.tsx'
import { Days, daysOf } from './days.tsx'
import { spendAgainstCaps, timesToDecision } from './timing.ts'

/** Pictures of the period, from the server's statistics: they are no part of the hashed report. */
export function Pictures({ period }: Pick<ReadyReport, 'period'>) {
  const can = useCan()
  return (
    <>
      {can('GET /v1/stats') && <DecisionsByDay period={period} />}
      <Pair>
        {can('GET /v1/approvals') && <TimeToDecision period={period} />}
        {can('GET /v1/stats') && can('GET /v1/spend-limits') && (
          <SpendAgainstCaps period={period} />
        )}
      </Pair>
    </>
  )
}

const statsOf = (period: ReadyReport['period'], by: 'decision' | 'agent') => ({
  queryKey: ['stats', 'report', by, period.from, period.to],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    remit.getStats({ query: { ...period, bucket: 'day' as const, by }, signal }),
})

function DecisionsByDay({ period }: Pick<ReadyReport, 'period'>) {
  const query = useQuery(statsOf(period, 'decision'))
  return <Loaded query={query}>{(stats) => <Days days={daysOf(stats, period)} />}</Loaded>
}

function TimeToDecision({ period }: Pick<ReadyReport, 'period'>) {
  const query = useQuery({
    queryKey: ['approvals', 'newest'],
    queryFn: ({ signal }) => remit.listApprovals({ query: { limit: 1_000 }, signal }),
  })
  return (
    <Loaded query={query}>
      {({ data, next_cursor }) => (
        <Bars
          title={t.reports.timesChart}
          nameTitle={t.reports.time}
          valueTitle={t.reports.requests}
          rows={timesToDecision(data, period)}
          {...(next_cursor !== null && { note: t.reports.newestRequests })}
        />
      )}
    </Loaded>
  )
}

function SpendAgainstCaps({ period }: Pick<ReadyReport, 'period'>) {
  const stats = useQuery(statsOf(period, 'agent'))
  const limits = useQuery({
    queryKey: ['spend', 'limits'],
    queryFn: ({ signal }) => remit.listSpendLimits({ query: { limit: 1_000 }, signal }),
  })
  return (
    <Loaded query={limits}>
      {({ data }) => (
        <Loaded query={stats}>
          {(counted) => (
            <Bars
              title={t.reports.spendChart}
              nameTitle={t.spend.agent}
              valueTitle={t.spend.spent}
              rows={spendAgainstCaps(data, counted)}
              note={t.reports.spendNote}
            />
          )}
        </Loaded>
      )}
    </Loaded>
  )
}
