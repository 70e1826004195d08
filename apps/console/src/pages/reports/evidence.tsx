import { byDay } from '@remit/contract/report-texts'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { everyPage } from '../../format/csv.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Row, Stack, Table } from '../../ui/layout.tsx'
import { Loaded } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Time } from '../../ui/values.tsx'
import { SEQ_COLUMN } from '../ledger/seq-column.tsx'
import styles from './reports.module.css'

interface DatedSeqsProps {
  readonly of: readonly number[]
  readonly dates: readonly (string | null)[] | undefined
}

/** Links to entries, with their days. */
export const DatedSeqs = ({ of, dates }: DatedSeqsProps) => (
  <div className={styles['seqs']}>
    {byDay(of, dates).map(({ day, seqs }) => (
      <span key={seqs[0]}>
        {seqs.map((seq) => (
          <Link key={seq} to="/ledger/$seq" params={{ seq: String(seq) }}>
            {seq}
          </Link>
        ))}
        {day !== null && <span className={ui['muted']}>({day})</span>}
      </span>
    ))}
  </div>
)

/** Every entry behind a control, page by page. */
export function AllEvidence({ report, control }: { report: string; control: string }) {
  const [isOpen, setOpen] = useState(false)
  const read = (cursor: string | undefined, signal?: AbortSignal) =>
    remit.listReportEvidence({
      params: { id: report },
      query: { control, limit: 100, cursor },
      ...(signal && { signal }),
    })
  const query = useInfiniteQuery({
    queryKey: ['reports', report, 'evidence', control],
    enabled: isOpen,
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => read(pageParam || undefined, signal),
    getNextPageParam: ({ next_cursor }) => next_cursor,
  })
  if (!isOpen)
    return (
      <Row>
        <Button tone="quiet" onClick={() => setOpen(true)}>
          {t.reports.allEvidence}
        </Button>
      </Row>
    )
  return (
    <Loaded query={query}>
      {({ pages }) => (
        <Stack>
          <Table
            label={t.reports.allEvidence}
            rows={pages.flatMap(({ data }) => data)}
            rowKey={({ seq }) => String(seq)}
            csv={`evidence-${control}`}
            all={() => everyPage(read)}
            columns={[
              SEQ_COLUMN,
              { name: t.ledger.kind, value: ({ kind }) => kind },
              {
                name: t.ledger.time,
                value: ({ recorded_at }) => recorded_at,
                cell: ({ recorded_at }) => <Time at={recorded_at} as="full" />,
              },
            ]}
          />
          {query.hasNextPage && (
            <Row>
              <Button onClick={() => void query.fetchNextPage()}>{t.common.more}</Button>
            </Row>
          )}
        </Stack>
      )}
    </Loaded>
  )
}
