import { lazy, Suspense, useState } from 'react'
import type { ReactNode } from 'react'
import { t } from '../texts.ts'
import { Button } from './button.tsx'
import type { Series } from './chart.tsx'
import styles from './figure.module.css'
import { Card, Table } from './layout.tsx'
import { Skeleton } from './states.tsx'

const Chart = lazy(async () => ({ default: (await import('./chart.tsx')).Chart }))

interface FigureProps {
  readonly title: string
  readonly timeName: string
  readonly times: readonly number[]
  readonly series: readonly Series[]
  readonly unit?: (value: number) => string
  readonly note?: string | undefined
  /** Called with the index of a time that a person clicks; the chart is then stacked bars. */
  readonly onPick?: (index: number) => void
}

interface PictureCardProps {
  readonly title: string
  readonly table: ReactNode
  /** Below both. */
  readonly note?: ReactNode
  readonly children: ReactNode
}

/** A picture, or the table of its values. */
export function PictureCard({ title, table, note, children }: PictureCardProps) {
  const [isTable, setTable] = useState(false)
  return (
    <Card
      title={title}
      actions={
        <Button tone="quiet" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          {isTable ? t.common.showAsChart : t.common.showAsTable}
        </Button>
      }
    >
      {isTable ? table : children}
      {note}
    </Card>
  )
}

/** Bars to click, or lines, and their table: the same values, for people who do not see or want a picture. */
export function Figure(props: FigureProps) {
  const { title, timeName, times, series, unit = String, note, onPick } = props
  return (
    <PictureCard
      title={title}
      table={
        <Table
          label={title}
          rows={times.map((time, i) => ({ time, i }))}
          rowKey={({ time }) => String(time)}
          csv="figure"
          columns={[
            {
              name: timeName,
              value: ({ time }) => new Date(time * 1000).toISOString(),
              cell: ({ time, i }) => {
                const text = new Date(time * 1000).toISOString().slice(0, 16).replace('T', ' ')
                if (!onPick) return text
                return (
                  <Button tone="quiet" onClick={() => onPick(i)}>
                    {text}
                  </Button>
                )
              },
            },
            ...series.map(({ label, values }) => ({
              name: label,
              end: true,
              value: ({ i }: { i: number }) => values[i],
              cell: ({ i }: { i: number }) => {
                const value = values[i]
                return value === null || value === undefined ? '–' : unit(value)
              },
            })),
          ]}
        />
      }
    >
      {onPick ? (
        <Bars label={title} times={times} series={series} unit={unit} onPick={onPick} />
      ) : (
        <Suspense fallback={<Skeleton />}>
          <Chart label={title} times={times} series={series} unit={unit} />
        </Suspense>
      )}
      <Legend series={series} note={note} />
    </PictureCard>
  )
}

interface LegendProps {
  readonly series: readonly Pick<Series, 'label' | 'color'>[]
  readonly note?: string | undefined
}

export const Legend = ({ series, note }: LegendProps) => (
  <ul className={styles['legend']}>
    {series.map(({ label, color }) => (
      <li key={label}>
        <span style={{ background: `var(${color})` }} />
        {label}
      </li>
    ))}
    {note !== undefined && <li>{note}</li>}
  </ul>
)

interface BarsProps {
  readonly label: string
  /** Seconds since 1970. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  readonly unit: (value: number) => string
  /** Called with the index of the time that a person clicks. */
  readonly onPick: (index: number) => void
}

const textOf = (seconds: number): string =>
  new Date(seconds * 1000).toISOString().slice(5, 16).replace('T', ' ')

/** Counts over time as stacked bars, in UTC. A table with the same values stands beside it. */
function Bars({ label, times, series, unit, onPick }: BarsProps) {
  const sums = times.map((_, i) => series.reduce((sum, { values }) => sum + (values[i] ?? 0), 0))
  const most = Math.max(1, ...sums)
  const isEmpty = sums.every((sum) => sum === 0)
  const textsAt = (i: number) => [
    `${textOf(times[i] ?? 0)} UTC`,
    ...series.map((one) => `${one.label}: ${unit(one.values[i] ?? 0)}`),
  ]
  const middle = times[Math.floor(times.length / 2)] ?? 0
  return (
    <div role="group" aria-label={label}>
      <span className={styles['most']}>{isEmpty ? '\u00a0' : unit(most)}</span>
      <div className={styles['bars']}>
        {isEmpty && <p>{t.common.nothingCounted}</p>}
        {(isEmpty ? [] : times).map((time, i) => (
          // Out of the tab order: the table has a button for each time.
          <button
            key={time}
            type="button"
            tabIndex={-1}
            data-pick
            aria-label={textsAt(i).join(', ')}
            title={textsAt(i).join('\n')}
            onClick={() => onPick(i)}
          >
            {series.map((one) => (
              <span
                key={one.label}
                style={{
                  height: `${((one.values[i] ?? 0) / most) * 100}%`,
                  background: `var(${one.color})`,
                }}
              />
            ))}
          </button>
        ))}
      </div>
      <div className={styles['ticks']}>
        {[times[0] ?? 0, middle, times.at(-1) ?? 0].map((time) => (
          <span key={time}>{textOf(time)}</span>
        ))}
      </div>
    </div>
  )
}
