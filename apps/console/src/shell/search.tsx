import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { remit } from '../api/client.ts'
import { agentsQuery, approvalRulesQuery, policiesQuery } from '../api/queries.ts'
import { useCan } from '../api/session.ts'
import { t } from '../texts.ts'
import { Input } from '../ui/field.tsx'
import { Modal } from '../ui/modal.tsx'
import ui from '../ui/ui.module.css'
import { Literal } from '../ui/values.tsx'
import { isShown, PAGES } from './pages.ts'
import { hitsOf } from './search-hits.ts'
import type { Hit, Searched } from './search-hits.ts'
import styles from './shell.module.css'

/** The newest decisions that are searched by their texts. */
const DECISIONS = 500

function useSearched(): Searched {
  const can = useCan()
  const agents = useQuery({ ...agentsQuery, enabled: can('GET /v1/identity/agents') })
  const policies = useQuery({ ...policiesQuery, enabled: can('GET /v1/policies') })
  const rules = useQuery({ ...approvalRulesQuery, enabled: can('GET /v1/approval-rules') })
  const decisions = useQuery({
    queryKey: ['ledger', 'searched'],
    enabled: can('GET /v1/ledger'),
    queryFn: ({ signal }) =>
      remit.listEntries({
        query: { kind: 'authorization.decided', fields: 'header', limit: DECISIONS },
        signal,
      }),
  })
  return {
    pages: PAGES.filter((page) => isShown(page, can)),
    agents: agents.data?.data ?? [],
    policies: policies.data?.data ?? [],
    rules: rules.data?.data ?? [],
    decisions: decisions.data?.data ?? [],
    canReadLedger: can('GET /v1/ledger'),
  }
}

/** Finds agents, rules, decisions, entries and pages; the arrow keys choose, Enter opens. */
export function SearchDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const list = useId()
  const navigate = useNavigate()
  const hits = hitsOf(text, useSearched())
  const chosen = Math.min(at, hits.length - 1)
  const open = (hit: Hit | undefined) => {
    if (!hit) return
    onClose()
    void navigate(hit.target as never)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(hits.length - 1, chosen + 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(0, chosen - 1))
    else if (event.key === 'Enter') open(hits[chosen])
    else return
    event.preventDefault()
  }
  return (
    <Modal isOpen title={t.search.title} onClose={onClose}>
      <Input
        autoFocus
        label={t.search.label}
        hint={t.search.hint(DECISIONS)}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={hits.length > 0}
        aria-controls={list}
        aria-activedescendant={hits.length > 0 ? `${list}-${chosen}` : undefined}
        value={text}
        onValue={(next) => {
          setText(next)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={list} role="listbox" aria-label={t.search.hits} className={styles['hits']}>
        {hits.map((hit, i) => (
          <div
            key={`${hit.group} ${hit.text} ${hit.note}`}
            id={`${list}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === chosen}
            ref={(element) => {
              if (i === chosen) element?.scrollIntoView({ block: 'nearest' })
            }}
            onClick={() => open(hit)}
            onKeyDown={onKeyDown}
          >
            <span className={ui['muted']}>{hit.group === hits[i - 1]?.group ? '' : hit.group}</span>
            <span>
              <Literal>{hit.text}</Literal>
              {hit.note !== undefined && <Literal as="small">{hit.note}</Literal>}
            </span>
          </div>
        ))}
      </div>
    </Modal>
  )
}
