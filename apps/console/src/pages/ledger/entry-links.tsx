import { Link } from '@tanstack/react-router'
import { t } from '../../texts.ts'
import { Row } from '../../ui/layout.tsx'
import { buttonClass } from '../../ui/button.tsx'
import type { FullEntry } from './entry.tsx'

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** Links to the entries that belong to the same decision and the same trace. */
export function EntryLinks({ entry: { data } }: { entry: FullEntry }) {
  const decision = textOf(data?.['decision_id'])
  const trace = textOf(data?.['trace_id'])
  if (decision === undefined && trace === undefined) return null
  return (
    <Row>
      {decision !== undefined && (
        <Link to="/decisions/$id" params={{ id: decision }} className={buttonClass()}>
          {t.ledger.decisionTimeline}
        </Link>
      )}
      {trace !== undefined && (
        <Link to="/ledger" search={{ trace_id: trace }} className={buttonClass()}>
          {t.ledger.sameTrace}
        </Link>
      )}
    </Row>
  )
}
