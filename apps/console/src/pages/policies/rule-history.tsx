import type { Entry } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/layout.tsx'
import { Loaded, Skeleton } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Literal, Time } from '../../ui/values.tsx'
import styles from './policies.module.css'
import { historyQuery, ruleText } from './queries.ts'

const TextDiff = lazy(async () => ({
  default: (await import('../../editor/text-diff.tsx')).TextDiff,
}))

/** The changes of a rule, from the ledger. */
export function RuleHistory({ id }: { id: string }) {
  const can = useCan()
  const query = useQuery({ ...historyQuery(id), enabled: can('GET /v1/ledger') })
  if (!can('GET /v1/ledger')) return null
  return (
    <Card title={t.policies.history}>
      <Loaded query={query}>
        {(entries) =>
          entries.length === 0 ? (
            <p className={ui['muted']}>{t.policies.noHistory}</p>
          ) : (
            entries.map((entry, i) => (
              <Change key={entry.seq} entry={entry} before={entries[i + 1]} />
            ))
          )
        }
      </Loaded>
    </Card>
  )
}

function Change({ entry, before }: { entry: Entry; before: Entry | undefined }) {
  const [isOpen, setOpen] = useState(false)
  const reason = entry.data?.['change_reason']
  return (
    <div className={styles['change']}>
      <Link to="/ledger/$seq" params={{ seq: String(entry.seq) }}>
        {entry.seq}
      </Link>
      <strong>{t.policies.changes[entry.kind] ?? entry.kind}</strong>
      <span className={ui['muted']}>
        {t.policies.by} <Literal>{entry.actor?.id ?? ''}</Literal>
      </span>
      <Time at={entry.recorded_at} as="full" />
      {typeof reason === 'string' && <Literal>{reason}</Literal>}
      {before && entry.kind === 'policy.updated' && (
        <Button tone="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t.policies.compare}
        </Button>
      )}
      {isOpen && before && (
        <div style={{ flexBasis: '100%' }}>
          <Suspense fallback={<Skeleton />}>
            <TextDiff
              label={t.policies.compare}
              before={ruleText(before)}
              after={ruleText(entry)}
            />
          </Suspense>
        </div>
      )}
    </div>
  )
}
