import type { Stats } from '@remit/contract'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { count } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Figure } from '../../ui/figure.tsx'
import { barsOf, SPANS } from './spans.ts'
import type { Period } from './spans.ts'

const KEYS = [
  ['allow', t.live.allow, '--allow'],
  ['deny', t.live.deny, '--deny'],
  ['needs_approval', t.live.needs_approval, '--wait'],
] as const

/** Decisions of the period; a click on a bar lists them. */
export function DecisionChart({ stats, period }: { stats: Stats; period: Period }) {
  const navigate = useNavigate()
  const { span, from } = period
  const { barMs, ms } = SPANS[span]
  const { times, series } = useMemo(
    () => ({
      times: Array.from({ length: Math.ceil(ms / barMs) }, (_, i) => (from + i * barMs) / 1000),
      series: KEYS.map(([key, label, color]) => ({
        label,
        color,
        values: barsOf(stats, key, { span, from, before: from, to: from + ms }),
      })),
    }),
    [stats, span, from, ms, barMs],
  )
  return (
    <Figure
      title={t.live.charts[span]}
      timeName={t.live.start}
      times={times}
      series={series}
      unit={count}
      note={stats.up_to_seq === null ? undefined : t.live.lag(count(stats.up_to_seq))}
      onPick={(i) =>
        void navigate({
          to: '/ledger',
          search: {
            kind: 'authorization.decided',
            from: new Date(from + i * barMs).toISOString(),
            to: new Date(from + (i + 1) * barMs).toISOString(),
          },
        })
      }
    />
  )
}
