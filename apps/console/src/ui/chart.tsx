import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useEffect, useEffectEvent, useMemo, useRef } from 'react'

export interface Series {
  readonly label: string
  /** A custom property of the page, such as `--allow`. */
  readonly color: string
  readonly values: readonly (number | null)[]
  readonly isDashed?: boolean
  readonly isBar?: boolean
}

interface ChartProps {
  readonly label: string
  /** Seconds since 1970. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  readonly unit?: (value: number) => string
  /** Draws the series as bars on top of each other, the first one uppermost. */
  readonly isStacked?: boolean
  /** Called with the index of the time that a person clicks. */
  readonly onPick?: ((index: number) => void) | undefined
}

/** Sums from each series to the last: drawn over each other, they look stacked. */
const stacked = (series: readonly Series[]): Series[] =>
  series.map((one, at) => ({
    ...one,
    isBar: true,
    values: one.values.map(
      (_, i) =>
        // A bar of no height would be drawn as a line.
        series.slice(at).reduce((sum, { values }) => sum + (values[i] ?? 0), 0) || null,
    ),
  }))

const HEIGHT = 190
const FONT = '11px system-ui, sans-serif'

/** The color of a property as the page resolves it in the current scheme. */
function colorOf(element: Element, property: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${property})`
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** A tick of the axis in UTC: the date at midnight, else the hour. */
function tick(seconds: number): string {
  const text = new Date(seconds * 1000).toISOString()
  return text.slice(11, 16) === '00:00' ? text.slice(5, 10) : text.slice(11, 16)
}

/** A chart of values over time, in UTC. A table with the same values stands beside it. */
export function Chart(props: ChartProps) {
  const { label, times, series: given, unit = String, isStacked = false, onPick } = props
  const host = useRef<HTMLDivElement>(null)
  const series = useMemo(() => (isStacked ? stacked(given) : given), [given, isStacked])
  const pick = useEffectEvent((index: number) => onPick?.(index))
  useEffect(() => {
    const element = host.current
    if (!element) return undefined
    const draw = () => {
      const [muted, line] = [colorOf(element, '--muted'), colorOf(element, '--line')]
      const axis = {
        stroke: muted,
        font: FONT,
        grid: { stroke: line, width: 1 },
        ticks: { show: false },
      }
      const bars = uPlot.paths.bars?.({ size: [0.7, 28] })
      const drawn = new uPlot(
        {
          width: element.clientWidth,
          height: HEIGHT,
          tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'UTC'),
          legend: { show: false },
          cursor: { y: false },
          axes: [
            { ...axis, size: 30, values: (_, ticks) => ticks.map(tick) },
            { ...axis, size: 64, values: (_, values) => values.map(unit) },
          ],
          scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.08)] } },
          series: [
            {},
            ...series.map(({ label: name, color, isDashed, isBar }) => ({
              label: name,
              stroke: colorOf(element, color),
              width: 1.5,
              points: { show: false },
              ...(isDashed && { dash: [5, 4] }),
              ...(isBar && bars && { paths: bars, fill: colorOf(element, color) }),
            })),
          ],
        },
        [[...times], ...series.map(({ values }) => [...values])],
        element,
      )
      drawn.over.addEventListener('click', () => {
        if (typeof drawn.cursor.idx === 'number') pick(drawn.cursor.idx)
      })
      return drawn
    }
    let plot = draw()
    const redraw = () => {
      plot.destroy()
      plot = draw()
    }
    const size = new ResizeObserver(() =>
      plot.setSize({ width: element.clientWidth, height: HEIGHT }),
    )
    size.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', redraw)
    return () => {
      size.disconnect()
      scheme.removeEventListener('change', redraw)
      plot.destroy()
    }
  }, [times, series, unit])
  return (
    <div
      ref={host}
      role="img"
      aria-label={label}
      data-pick={onPick ? '' : undefined}
      style={{ minHeight: HEIGHT }}
    />
  )
}
