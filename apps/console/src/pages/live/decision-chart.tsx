import type { Stats } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { period, statsQuery } from '../../api/stats.ts'
import { count } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Figure } from '../../ui/figure.tsx'
import { Loaded } from '../../ui/states.tsx'

const HOUR_MS = 3_600_000
const KEYS = [
  ['allow', t.live.allow, '--allow'],
  ['deny', t.live.deny, '--deny'],
  ['needs_approval', t.live.needs_approval, '--wait'],
] as const

/** Decisions per hour of the last day. */
export function DecisionChart() {
  const query = useQuery(
    statsQuery('live', () => ({ ...period(1, HOUR_MS), bucket: 'hour', by: 'decision' }), true),
  )
  return <Loaded query={query}>{(stats) => <Drawn stats={stats} />}</Loaded>
}

function Drawn({ stats }: { stats: Stats }) {
  const { times, series } = useMemo(() => tableOf(stats), [stats])
  return (
    <Figure
      title={t.live.chart}
      timeName={t.live.hour}
      times={times}
      series={series}
      unit={count}
      note={stats.up_to_seq === null ? undefined : t.live.lag(count(stats.up_to_seq))}
    />
  )
}

function tableOf({ data }: Stats) {
  const { from, to } = period(1, HOUR_MS)
  const hours: number[] = []
  for (let at = Date.parse(from); at < Date.parse(to); at += HOUR_MS) hours.push(at)
  const counts = new Map(data.map((stat) => [`${Date.parse(stat.from)} ${stat.key}`, stat.count]))
  return {
    times: hours.map((at) => at / 1000),
    series: KEYS.map(([key, label, color]) => ({
      label,
      color,
      values: hours.map((at) => counts.get(`${at} ${key}`) ?? 0),
    })),
  }
}
