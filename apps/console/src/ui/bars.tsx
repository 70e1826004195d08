import { t } from '../texts.ts'
import styles from './figure.module.css'

export interface BarSeries {
  readonly label: string
  /** A custom property of the page, such as `--allow`. */
  readonly color: string
  readonly values: readonly (number | null)[]
}

interface BarsProps {
  readonly label: string
  /** Seconds since 1970. */
  readonly times: readonly number[]
  readonly series: readonly BarSeries[]
  readonly unit: (value: number) => string
  /** Called with the index of the time that a person clicks. */
  readonly onPick: (index: number) => void
}

const textOf = (seconds: number): string =>
  new Date(seconds * 1000).toISOString().slice(5, 16).replace('T', ' ')

/** Counts over time as stacked bars, in UTC. A table with the same values stands beside it. */
export function Bars({ label, times, series, unit, onPick }: BarsProps) {
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
