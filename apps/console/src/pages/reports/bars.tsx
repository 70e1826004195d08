import { count } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Literal } from '../../ui/values.tsx'
import { Picture } from './picture.tsx'
import styles from './reports.module.css'

export interface BarRow {
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
    <span>
      <Literal>{row.name}</Literal>
    </span>
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
