import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'react'

export interface Series {
  readonly label: string
  /** A custom property of the page, such as `--allow`. */
  readonly color: string
  readonly values: readonly (number | null)[]
  readonly isDashed?: boolean
}

interface ChartProps {
  readonly label: string
  /** Seconds since 1970. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  readonly unit?: (value: number) => string
}

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

/** Room for the widest tick at 11 px. */
const widthOf = (texts: readonly string[]): number =>
  18 + 6.5 * Math.max(4, ...texts.map(({ length }) => length))

/** A chart of values over time, in UTC. A table with the same values stands beside it. */
export function Chart({ label, times, series, unit = String }: ChartProps) {
  const host = useRef<HTMLDivElement>(null)
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
      return new uPlot(
        {
          width: element.clientWidth,
          height: HEIGHT,
          tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'UTC'),
          legend: { show: false },
          cursor: { y: false },
          axes: [
            { ...axis, size: 30, values: (_, ticks) => ticks.map(tick) },
            {
              ...axis,
              size: (_, values) => widthOf(values ?? []),
              values: (_, values) => values.map(unit),
            },
          ],
          scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.08)] } },
          series: [
            {},
            ...series.map(({ label: name, color, isDashed }) => ({
              label: name,
              stroke: colorOf(element, color),
              width: 1.5,
              points: { show: false },
              ...(isDashed && { dash: [5, 4] }),
            })),
          ],
        },
        [[...times], ...series.map(({ values }) => [...values])],
        element,
      )
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
  return <div ref={host} role="img" aria-label={label} style={{ minHeight: HEIGHT }} />
}
