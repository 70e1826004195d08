import { Link } from '@tanstack/react-router'
import { t } from '../../texts.ts'

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
