import type { Entry } from '@remit/contract'
import { Link } from '@tanstack/react-router'
import { t } from '../../texts.ts'
import type { Column } from '../../ui/layout.tsx'
import { Decision } from '../../ui/values.tsx'

/** The decisions of a filter. */
export const DECISIONS = [
  ['', t.common.all],
  'allow',
  'deny',
  ['needs_approval', 'needs approval'],
] as const

/** The column of a table of entries that links each to its page. */
export const SEQ_COLUMN = {
  name: t.ledger.seq,
  value: ({ seq }: { seq: number }) => seq,
  cell: ({ seq }: { seq: number }) => (
    <Link to="/ledger/$seq" params={{ seq: String(seq) }}>
      {seq}
    </Link>
  ),
}

export const TIME_COLUMN: Column<Entry> = {
  name: t.ledger.time,
  value: ({ recorded_at }) => recorded_at,
  as: 'time',
}

/** The decision of an entry, as a link to its story where the entry names it. */
export const DECISION_COLUMN: Column<Entry> = {
  name: t.ledger.decision,
  value: ({ decision }) => decision,
  cell({ decision, data }) {
    const id = data?.['decision_id']
    if (decision === null) return null
    if (typeof id !== 'string') return <Decision decision={decision} />
    return (
      <Link to="/decisions/$id" params={{ id }}>
        <Decision decision={decision} />
      </Link>
    )
  },
}

/** The request that was decided, and why. */
export const REQUEST_COLUMNS: readonly Column<Entry>[] = [
  { name: t.ledger.action, value: ({ action }) => action, as: 'id' },
  { name: t.ledger.resource, value: ({ resource }) => resource, as: 'id' },
  { name: t.ledger.reason, value: ({ reason }) => reason },
]
