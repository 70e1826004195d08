import type { Entry } from '@remit/contract'
import { Link } from '@tanstack/react-router'
import { Decision } from '../../ui/values.tsx'

/** The decision of an entry, as a link to its story where the entry names it. */
export function Decided({ entry: { decision, data } }: { entry: Entry }) {
  const id = data?.['decision_id']
  if (decision === null) return null
  if (typeof id !== 'string') return <Decision decision={decision} />
  return (
    <Link to="/decisions/$id" params={{ id }}>
      <Decision decision={decision} />
    </Link>
  )
}
