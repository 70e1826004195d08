import { useState } from 'react'
import { count } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Table } from '../../ui/layout.tsx'
import { Literal } from '../../ui/values.tsx'
import styles from './reports.module.css'

interface BarsProps {
  readonly title: string
  readonly nameTitle: string
  readonly rows: readonly (readonly [name: string, value: number])[]
}

/** Horizontal bars as inline SVG, which prints; the table has the same numbers. */
export function Bars({ title, nameTitle, rows }: BarsProps) {
  const [isTable, setTable] = useState(false)
  const most = Math.max(1, ...rows.map(([, value]) => value))
  return (
    <Card
      title={title}
      actions={
        <Button tone="quiet" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          {isTable ? t.common.showAsChart : t.common.showAsTable}
        </Button>
      }
    >
      {isTable ? (
        <Table
          label={title}
          rows={rows}
          rowKey={([name]) => name}
          columns={[
            { name: nameTitle, cell: ([name]) => <Literal>{name}</Literal> },
            { name: t.reports.entries, end: true, cell: ([, value]) => count(value) },
          ]}
        />
      ) : (
        <div className={styles['bars']}>
          {rows.map(([name, value]) => (
            <Bar key={name} name={name} value={value} share={value / most} />
          ))}
        </div>
      )}
    </Card>
  )
}

const Bar = ({ name, value, share }: { name: string; value: number; share: number }) => (
  <>
    <span>
      <Literal>{name}</Literal>
    </span>
    <svg viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden>
      <rect width={Math.max(0.5, share * 100)} height="12" rx="1" />
    </svg>
    <span>{count(value)}</span>
  </>
)
