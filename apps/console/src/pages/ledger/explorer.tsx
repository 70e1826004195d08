import { Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState } from 'react'
import { useEvents } from '../../api/events.ts'
import { everyPage } from '../../format/csv.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { useNarrow } from '../../ui/preferences.ts'
import { CsvButton, CurlButton, Empty, Failure, Skeleton } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import styles from './explorer.module.css'
import { FilterBar } from './filter-bar.tsx'
import { isFiltered, queryOf } from './filters.ts'
import type { Filters } from './filters.ts'
import { LedgerRow } from './row.tsx'
import { COLUMNS, readEntries, useAllRows, useHead, useMatchingRows } from './rows.ts'

const ROW_PX = 31
/** A card of three lines, where the list is narrow. */
const CARD_PX = 74
/** Rows beyond each edge, drawn and read ahead. */
const AHEAD = 20
const APPEND = { action: 'deploy.finished', actor: 'ci', outcome: 'success' }

export function Explorer() {
  const filters: Filters = useSearch({ from: '/ledger' })
  const { seq } = useParams({ strict: false })
  return (
    <div className={styles['split']} data-open={seq === undefined ? undefined : ''}>
      <div className={styles['list']}>
        <header className={ui['head']}>
          <h1>{t.ledger.title}</h1>
          <GoTo />
          <CsvButton
            name="ledger"
            columns={COLUMNS}
            rows={() => everyPage((cursor) => readEntries(filters, cursor))}
          />
          <CurlButton request={() => ({ method: 'GET', path: `/v1/ledger${searchOf(filters)}` })} />
        </header>
        <FilterBar filters={filters} />
        <List key={JSON.stringify(filters)} filters={filters} open={seq} />
      </div>
      <Outlet />
    </div>
  )
}

function searchOf(filters: Filters): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(queryOf(filters)))
    if (value !== undefined) search.set(name, value)
  return search.size === 0 ? '' : `?${search}`
}

function GoTo() {
  const [text, setText] = useState('')
  const navigate = useNavigate()
  return (
    <form
      className={styles['goto']}
      onSubmit={(event) => {
        event.preventDefault()
        if (/^\d+$/.test(text.trim()))
          void navigate({ to: '/ledger/$seq', params: { seq: text.trim() }, search: true })
      }}
    >
      <input
        className={ui['input']}
        inputMode="numeric"
        aria-label={t.ledger.goTo}
        placeholder={t.ledger.goTo}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Button type="submit">{t.ledger.go}</Button>
    </form>
  )
}

function List({ filters, open }: { filters: Filters; open: string | undefined }) {
  const scroller = useRef<HTMLDivElement>(null)
  const head = useHead()
  const [anchor, setAnchor] = useState<number | null>(null)
  const [seen, setSeen] = useState(0)
  useEvents(({ seq }) => setSeen((newest) => Math.max(newest, seq)))
  const isAll = !isFiltered(filters)
  const top = anchor ?? head.data?.seq ?? null

  const [window, setWindow] = useState({ first: 0, last: 40 })
  const all = useAllRows(isAll ? top : null, window.first, window.last)
  const matching = useMatchingRows(filters, window.last)
  const rows = isAll ? all : matching
  const isNarrow = useNarrow()
  const virtual = useVirtualizer({
    count: rows.count,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isNarrow ? CARD_PX : ROW_PX),
    overscan: AHEAD,
    onChange: ({ range }) => {
      if (range)
        setWindow({ first: Math.max(0, range.startIndex - AHEAD), last: range.endIndex + AHEAD })
    },
  })
  useEffect(() => virtual.measure(), [virtual, isNarrow])
  const newer = isAll && top !== null ? Math.max(seen, head.data?.seq ?? 0) - top : 0

  const error = (isAll ? head.error : null) ?? rows.error
  if (error) return <Failure error={error} onRetry={rows.refetch} />
  if (rows.isLoading) return <Skeleton />
  if (rows.count === 0)
    return (
      <div className={ui['content']}>
        <Empty
          title={t.ledger.empty}
          request={{ method: 'POST', path: '/v1/ledger', body: APPEND }}
        >
          {t.ledger.emptyText}
        </Empty>
      </div>
    )
  return (
    <>
      {newer > 0 && (
        <div className={ui['bar']}>
          <Button
            onClick={() => {
              setAnchor((top ?? 0) + newer)
              scroller.current?.scrollTo({ top: 0 })
            }}
          >
            {t.ledger.newer(newer)}
          </Button>
        </div>
      )}
      <div
        ref={scroller}
        className={styles['scroller']}
        tabIndex={0}
        role="region"
        aria-label={t.ledger.entries}
      >
        <div
          role="table"
          aria-label={t.ledger.entries}
          aria-rowcount={rows.count + 1}
          className={styles['table']}
        >
          <div role="rowgroup">
            <div role="row" aria-rowindex={1} className={styles['headRow']}>
              <span role="columnheader">{t.ledger.seq}</span>
              <span role="columnheader">{t.ledger.time}</span>
              <span role="columnheader">{t.ledger.kind}</span>
              <span role="columnheader">{t.ledger.decision}</span>
              <span role="columnheader">{t.ledger.who}</span>
              <span role="columnheader">{t.ledger.action}</span>
              <span role="columnheader">{t.ledger.resource}</span>
              <span role="columnheader">{t.ledger.reason}</span>
            </div>
          </div>
          <div
            role="rowgroup"
            className={styles['body']}
            style={{ height: virtual.getTotalSize() }}
          >
            {virtual.getVirtualItems().map(({ index, start }) => (
              <LedgerRow
                key={index}
                index={index}
                start={start}
                entry={rows.row(index)}
                isOpen={open !== undefined && rows.row(index)?.seq === Number(open)}
              />
            ))}
          </div>
        </div>
      </div>
    </>
  )
}
