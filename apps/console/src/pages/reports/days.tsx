import type { Stats } from '@remit/contract'
import { count } from '../../format/money.ts'
import { t } from '../../texts.ts'
import figure from '../../ui/figure.module.css'
import { Picture } from './picture.tsx'
import styles from './reports.module.css'

const OUTCOMES = [
  ['allow', t.live.allow, '--allow'],
  ['needs_approval', t.live.needs_approval, '--wait'],
  ['deny', t.live.deny, '--deny'],
] as const
type Outcome = (typeof OUTCOMES)[number][0]

export type Day = { readonly at: string } & Readonly<Record<Outcome, number>>

const DAY_MS = 86_400_000

/** The decisions of each UTC day of a period, days without any too. */
export function daysOf({ data }: Stats, period: { from: string; to: string }): Day[] {
  const counts = new Map(data.map((stat) => [`${stat.from.slice(0, 10)} ${stat.key}`, stat.count]))
  if (data.length === 0) return []
  const days: Day[] = []
  const start = Date.parse(`${period.from.slice(0, 10)}T00:00:00.000Z`)
  for (let at = start; at < Date.parse(period.to); at += DAY_MS) {
    const day = new Date(at).toISOString().slice(0, 10)
    const of = (outcome: Outcome) => counts.get(`${day} ${outcome}`) ?? 0
    days.push({
      at: day,
      allow: of('allow'),
      needs_approval: of('needs_approval'),
      deny: of('deny'),
    })
  }
  return days
}

const totalOf = (day: Day): number => day.allow + day.needs_approval + day.deny

const HEIGHT = 120
/** Few days do not make broad bars. */
const MOST_DAY_PX = 90

/** Decisions by day and outcome, stacked. */
export function Days({ days }: { days: readonly Day[] }) {
  const most = Math.max(1, ...days.map(totalOf))
  const [first, last] = [days[0], days.at(-1)]
  return (
    <Picture
      title={t.reports.daysChart}
      note={`${t.reports.mostPerDay(count(most))} ${t.reports.daysNote}`}
      rows={days}
      rowKey={({ at }) => at}
      columns={[
        { name: t.reports.day, cell: ({ at }) => at },
        ...OUTCOMES.map(([outcome, label]) => ({
          name: label,
          end: true,
          cell: (day: Day) => count(day[outcome]),
        })),
      ]}
    >
      <div style={{ maxWidth: `${days.length * MOST_DAY_PX}px` }}>
        <svg
          className={styles['days']}
          viewBox={`0 0 ${days.length * 10} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={t.reports.daysChart}
        >
          {days.map((day, i) => (
            <Stacked key={day.at} day={day} x={i * 10} most={most} />
          ))}
        </svg>
        <div className={styles['axis']}>
          <span>{first?.at}</span>
          {last !== first && <span>{last?.at}</span>}
        </div>
      </div>
      <ul className={figure['legend']}>
        {OUTCOMES.map(([outcome, label, color]) => (
          <li key={outcome}>
            <span style={{ background: `var(${color})` }} />
            {label}
          </li>
        ))}
      </ul>
    </Picture>
  )
}

function Stacked({ day, x, most }: { day: Day; x: number; most: number }) {
  const heightOf = (n: number) => (n / most) * HEIGHT
  return (
    <g>
      <title>{`${day.at}: ${OUTCOMES.map(([outcome, label]) => `${label} ${day[outcome]}`).join(', ')}`}</title>
      {OUTCOMES.map(([outcome, , color], i) => {
        const below = OUTCOMES.slice(0, i + 1).reduce((sum, [one]) => sum + day[one], 0)
        return (
          <rect
            key={outcome}
            x={x + 1}
            y={HEIGHT - heightOf(below)}
            width={8}
            height={heightOf(day[outcome])}
            style={{ fill: `var(${color})` }}
          />
        )
      })}
    </g>
  )
}
