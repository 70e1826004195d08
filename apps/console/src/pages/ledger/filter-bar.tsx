import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Input, Select } from '../../ui/field.tsx'
import styles from './explorer.module.css'
import { isFiltered, withFilter } from './filters.ts'
import type { FilterName, Filters } from './filters.ts'

const KINDS = [
  ['', t.common.all],
  ...Object.entries(t.ledger.kinds),
] as const satisfies readonly (readonly [string, string])[]

const DECISIONS = [
  ['', t.common.all],
  ['allow', 'allow'],
  ['deny', 'deny'],
  ['needs_approval', 'needs approval'],
] as const

const RARE: readonly FilterName[] = ['actor', 'trace_id', 'decision_id', 'from', 'to']

/** Filters live in the address: a view is a link. */
export function FilterBar({ filters }: { filters: Filters }) {
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(RARE.some((name) => filters[name] !== undefined))
  const set = (name: FilterName) => (value: string) =>
    void navigate({ to: '.', search: withFilter(filters, name, value) as never, replace: true })
  const kinds =
    filters.kind && !KINDS.some(([kind]) => kind === filters.kind)
      ? [...KINDS, [filters.kind, filters.kind] as const]
      : KINDS
  return (
    <search className={styles['bar']} aria-label={t.ledger.filters}>
      <Text label={t.ledger.agent} value={filters.agent_id} onText={set('agent_id')} />
      <Text
        label={t.ledger.action}
        placeholder={t.ledger.actionHint}
        value={filters.action}
        onText={set('action')}
      />
      <Select
        label={t.ledger.kind}
        options={kinds}
        value={filters.kind ?? ''}
        onValue={set('kind')}
      />
      <Select
        label={t.ledger.decision}
        options={DECISIONS}
        value={filters.decision ?? ''}
        onValue={set('decision')}
      />
      {isOpen && (
        <>
          <Text label={t.ledger.actor} value={filters.actor} onText={set('actor')} />
          <Text label={t.ledger.trace} value={filters.trace_id} onText={set('trace_id')} />
          <Text
            label={t.ledger.decisionId}
            value={filters.decision_id}
            onText={set('decision_id')}
          />
          <Input
            type="datetime-local"
            label={t.ledger.from}
            value={filters.from ?? ''}
            onValue={set('from')}
          />
          <Input
            type="datetime-local"
            label={t.ledger.to}
            value={filters.to ?? ''}
            onValue={set('to')}
          />
        </>
      )}
      {!isOpen && (
        <Button tone="quiet" onClick={() => setOpen(true)}>
          {t.ledger.moreFilters}
        </Button>
      )}
      {isFiltered(filters) && (
        <Button
          tone="quiet"
          onClick={() => {
            setOpen(false)
            void navigate({ to: '.', search: {} as never, replace: true })
          }}
        >
          {t.ledger.clear}
        </Button>
      )}
    </search>
  )
}

interface TextProps {
  readonly label: string
  readonly placeholder?: string
  readonly value: string | undefined
  readonly onText: (text: string) => void
}

/** Applies on Enter and when the field is left, not on every letter. */
function Text({ label, placeholder, value = '', onText }: TextProps) {
  const [draft, setDraft] = useState<string | null>(null)
  const apply = () => {
    if (draft !== null && draft !== value) onText(draft)
    setDraft(null)
  }
  return (
    <Input
      label={label}
      placeholder={placeholder}
      value={draft ?? value}
      onValue={setDraft}
      onBlur={apply}
      onKeyDown={({ key }) => {
        if (key === 'Enter') apply()
      }}
    />
  )
}
