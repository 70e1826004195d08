import type { Approval, SpendLimit, Stats } from '@remit/contract'
import { usd } from '../../format/money.ts'
import { t } from '../../texts.ts'
import type { BarRow } from './bars.tsx'

const MINUTE_MS = 60_000
/** Upper ends of the classes; the last one has none. */
const CLASSES: readonly (readonly [name: string, belowMs: number])[] = [
  [t.reports.times.minute, MINUTE_MS],
  [t.reports.times.tenMinutes, 10 * MINUTE_MS],
  [t.reports.times.hour, 60 * MINUTE_MS],
  [t.reports.times.fourHours, 240 * MINUTE_MS],
  [t.reports.times.day, 1440 * MINUTE_MS],
  [t.reports.times.longer, Infinity],
]

interface Period {
  readonly from: string
  readonly to: string
}

/** The requests of a period by the time until their decision; none if none was decided. */
export function timesToDecision(
  requests: readonly Pick<Approval, 'requested_at' | 'decided_at'>[],
  { from, to }: Period,
): BarRow[] {
  const times = requests.flatMap(({ requested_at: asked, decided_at: decided }) =>
    decided !== null && decided >= from && decided < to
      ? [Date.parse(decided) - Date.parse(asked)]
      : [],
  )
  if (times.length === 0) return []
  return CLASSES.map(([name, below], i) => {
    const above = CLASSES[i - 1]?.[1] ?? 0
    return { name, value: times.filter((ms) => ms >= above && ms < below).length }
  })
}

/** Each agent's highest day or month of allowed amounts, against the cap of that window. */
export function spendAgainstCaps(limits: readonly SpendLimit[], { data }: Stats): BarRow[] {
  const highest = (agentId: string, length: number): number => {
    const windows = new Map<string, number>()
    for (const { key, from, amount_usd: amount } of data) {
      if (key !== agentId) continue
      const window = from.slice(0, length)
      windows.set(window, (windows.get(window) ?? 0) + amount)
    }
    return Math.max(0, ...windows.values())
  }
  return limits.flatMap(({ agent_id: id, daily_usd: daily, monthly_usd: monthly }) => [
    ...(daily === null ? [] : [rowOf(t.reports.highestDay(id), highest(id, 10), daily)]),
    ...(monthly === null ? [] : [rowOf(t.reports.highestMonth(id), highest(id, 7), monthly)]),
  ])
}

const rowOf = (name: string, value: number, limit: number): BarRow => ({
  name,
  value,
  limit,
  text: t.spend.of(usd(value), usd(limit)),
})
