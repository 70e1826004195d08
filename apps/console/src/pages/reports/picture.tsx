import { useState } from 'react'
import type { ReactNode } from 'react'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Table } from '../../ui/layout.tsx'
import type { Column } from '../../ui/layout.tsx'
import ui from '../../ui/ui.module.css'

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
export function Picture<T>({ title, note, rows, rowKey, columns, children }: PictureProps<T>) {
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
      {rows.length === 0 && <p className={ui['muted']}>{t.reports.noData}</p>}
      {rows.length > 0 &&
        (isTable ? (
          <Table label={title} rows={rows} rowKey={rowKey} columns={columns} />
        ) : (
          children
        ))}
      {note !== undefined && <p className={ui['hint']}>{note}</p>}
    </Card>
  )
}
