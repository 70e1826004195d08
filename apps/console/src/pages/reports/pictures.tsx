import type { ReadyReport, Approval, SpendLimit, Stats } from '@remit/contract'
import { WINDOWS } from '@remit/contract/values'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { remit } from '../../api/client.ts'
import { limitsQuery } from '../../api/queries.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Pair } from '../../ui/tile.tsx'
import { Loaded } from '../../ui/states.tsx'
import { usd, count } from '../../format/money.ts'
import { Legend, PictureCard } from '../../ui/figure.tsx'
import styles from './reports.module.css'
import { Literal } from '../../ui/values.tsx'
import { Table } from '../../ui/layout.tsx'
import type { Column } from '../../ui/layout.tsx'
import ui from '../../ui/ui.module.css'

type Period = ReadyReport['period']

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

const statsOf = (period: Period, by: 'decision' | 'agent') => ({
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
  const limits = useQuery(limitsQuery)
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

/** The requests of a period by the time until their decision; none if none was decided. */
function timesToDecision(
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
function spendAgainstCaps(limits: readonly SpendLimit[], { data }: Stats): BarRow[] {
  const highest = (agentId: string, length: number): number => {
    const windows = new Map<string, number>()
    for (const { key, from, amount_usd: amount } of data) {
      if (key !== agentId) continue
      const window = from.slice(0, length)
      windows.set(window, (windows.get(window) ?? 0) + amount)
    }
    return Math.max(0, ...windows.values())
  }
  return limits.flatMap((limit) =>
    WINDOWS.flatMap(({ name, cap, letters }) => {
      const [id, most] = [limit.agent_id, limit[cap]]
      const title = t.spend.windows[name].highest(id)
      // Statistics have days.
      return most === null || letters > 10 ? [] : [rowOf(title, highest(id, letters), most)]
    }),
  )
}

const rowOf = (name: string, value: number, limit: number): BarRow => ({
  name,
  value,
  limit,
  text: t.spend.of(usd(value), usd(limit)),
})

const OUTCOMES = [
  { outcome: 'allow', label: t.live.allow, color: '--allow' },
  { outcome: 'needs_approval', label: t.live.needs_approval, color: '--wait' },
  { outcome: 'deny', label: t.live.deny, color: '--deny' },
] as const
type Outcome = (typeof OUTCOMES)[number]['outcome']

type Day = { readonly at: string } & Readonly<Record<Outcome, number>>

const DAY_MS = 86_400_000

/** The decisions of each UTC day of a period, days without any too. */
function daysOf({ data }: Stats, period: Period): Day[] {
  const counts = new Map(data.map((stat) => [`${stat.from.slice(0, 10)} ${stat.key}`, stat.count]))
  if (data.length === 0) return []
  const days: Day[] = []
  const start = Date.parse(`${period.from.slice(0, 10)}T00:00:00.000Z`)
  for (let ms = start; ms < Date.parse(period.to); ms += DAY_MS) {
    const at = new Date(ms).toISOString().slice(0, 10)
    const of = (outcome: Outcome) => counts.get(`${at} ${outcome}`) ?? 0
    days.push({ at, allow: of('allow'), needs_approval: of('needs_approval'), deny: of('deny') })
  }
  return days
}

const totalOf = (day: Day): number => day.allow + day.needs_approval + day.deny

const HEIGHT = 120
/** Few days do not make broad bars. */
const MOST_DAY_PX = 90

/** Decisions by day and outcome, stacked. */
function Days({ days }: { days: readonly Day[] }) {
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
        ...OUTCOMES.map(({ outcome, label }) => ({
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
      <Legend series={OUTCOMES} />
    </Picture>
  )
}

function Stacked({ day, x, most }: { day: Day; x: number; most: number }) {
  const heightOf = (n: number) => (n / most) * HEIGHT
  return (
    <g>
      <title>{`${day.at}: ${OUTCOMES.map(({ outcome, label }) => `${label} ${day[outcome]}`).join(', ')}`}</title>
      {OUTCOMES.map(({ outcome, color }, i) => {
        const below = OUTCOMES.slice(0, i + 1).reduce((sum, one) => sum + day[one.outcome], 0)
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

interface BarRow {
  readonly name: string
  readonly value: number
  /** The end of the scale of this row, such as a cap; the greatest value unless given. */
  readonly limit?: number
  /** The value in words; the number unless given. */
  readonly text?: string
}

interface BarsProps {
  readonly title: string
  readonly nameTitle: string
  readonly valueTitle?: string
  readonly rows: readonly BarRow[]
  readonly note?: string
}

/** Horizontal bars as inline SVG, which prints; the table has the same numbers. */
export function Bars({ title, nameTitle, valueTitle = t.reports.entries, rows, note }: BarsProps) {
  const most = Math.max(1, ...rows.map(({ value }) => value))
  return (
    <Picture
      title={title}
      note={note}
      rows={rows}
      rowKey={({ name }) => name}
      columns={[
        { name: nameTitle, cell: ({ name }) => <Literal>{name}</Literal> },
        { name: valueTitle, end: true, cell: textOf },
      ]}
    >
      <div className={styles['bars']}>
        {rows.map((row) => (
          <Bar key={row.name} row={row} share={row.value / (row.limit ?? most)} />
        ))}
      </div>
    </Picture>
  )
}

const textOf = ({ value, text }: BarRow): string => text ?? count(value)

const Bar = ({ row, share }: { row: BarRow; share: number }) => (
  <>
    <Literal as="span">{row.name}</Literal>
    <svg viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden>
      {row.limit !== undefined && <rect data-track="" width="100" height="12" rx="1" />}
      <rect
        data-over={share > 1 ? '' : undefined}
        width={share > 0 ? Math.min(100, Math.max(0.5, share * 100)) : 0}
        height="12"
        rx="1"
      />
    </svg>
    <span>{textOf(row)}</span>
  </>
)

interface PictureProps<T> {
  readonly title: string
  readonly note?: string | undefined
  readonly rows: readonly T[]
  readonly rowKey: (row: T) => string
  readonly columns: readonly Column<T>[]
  /** The picture of the rows. */
  readonly children: ReactNode
}

/** A picture and the table with its numbers. */
function Picture<T>({ title, note, rows, rowKey, columns, children }: PictureProps<T>) {
  const none = rows.length === 0 && <p className={ui['muted']}>{t.reports.noData}</p>
  return (
    <PictureCard
      title={title}
      table={none || <Table label={title} rows={rows} rowKey={rowKey} columns={columns} />}
      note={note !== undefined && <p className={ui['hint']}>{note}</p>}
    >
      {none || children}
    </PictureCard>
  )
}
