import { amountText, failedText, resourceText, titleOf } from '@remit/contract/fit'
import { Link, useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { spellOut } from '../../format/literal.ts'
import { t } from '../../texts.ts'
import { Button, classes } from '../../ui/button.tsx'
import { Stack } from '../../ui/layout.tsx'
import { useShortcuts } from '../../ui/preferences.ts'
import { Note } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Ago, Badge, Literal } from '../../ui/values.tsx'
import styles from './approvals.module.css'
import { DecideDialog } from './decide-dialog.tsx'
import type { Vote } from './decide-dialog.tsx'
import { RequestDetail } from './detail.tsx'
import type { Request } from './queries.ts'
import { useCanVote } from './votes.ts'

interface PendingListProps {
  readonly requests: readonly Request[]
  readonly open: string | undefined
  /** The address names the request; else it is the first. */
  readonly isChosen: boolean
}

export function PendingList({ requests, open, isChosen }: PendingListProps) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [vote, setVote] = useState<Vote | null>(null)
  const list = useRef<HTMLUListElement>(null)
  const navigate = useNavigate()
  const isOn = useShortcuts()
  const canVote = useCanVote()
  const selected = requests.filter(({ id }) => chosen.has(id))

  const toggle = (id: string) => {
    const next = new Set(chosen)
    if (!next.delete(id)) next.add(id)
    setChosen(next)
  }
  const move = (by: number) => {
    const at = requests.findIndex(({ id }) => id === open)
    const next = requests[Math.min(requests.length - 1, Math.max(0, at + by))]
    if (!next) return
    void navigate({ to: '/approvals/$id', params: { id: next.id }, replace: true })
    list.current?.querySelector<HTMLElement>(`[data-id="${next.id}"] a`)?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isOn || event.ctrlKey || event.metaKey || event.altKey) return
    const current = requests.find(({ id }) => id === open)
    if (event.key === 'j') move(1)
    else if (event.key === 'k') move(-1)
    else if ((event.key === 'a' || event.key === 'r') && current && canVote(current))
      setVote({ decision: event.key === 'a' ? 'approve' : 'reject', requests: [current] })
    else return
    event.preventDefault()
  }
  return (
    <div className={styles['split']} data-chosen={isChosen ? '' : undefined}>
      <Stack>
        <div className={styles['list']}>
          {selected.length > 0 && <Bulk selected={selected} onVote={setVote} />}
          <ul ref={list} aria-label={t.approvals.list} data-shortcuts onKeyDown={onKeyDown}>
            {requests.map((request) => (
              <Item
                key={request.id}
                request={request}
                isOpen={request.id === open}
                isChosen={chosen.has(request.id)}
                canVote={canVote(request)}
                onToggle={() => toggle(request.id)}
              />
            ))}
          </ul>
        </div>
        {isOn && <p className={classes(ui['hint'], styles['keys'])}>{t.approvals.keys}</p>}
      </Stack>
      {open !== undefined && (
        <div className={styles['detail']}>
          <BackLink />
          <RequestDetail key={open} id={open} onVote={setVote} />
        </div>
      )}
      <DecideDialog
        vote={vote}
        onClose={(isDone) => {
          setVote(null)
          if (isDone) setChosen(new Set())
        }}
      />
    </div>
  )
}

interface ItemProps {
  readonly request: Request
  readonly isOpen: boolean
  readonly isChosen: boolean
  readonly canVote: boolean
  readonly onToggle: () => void
}

function Item({ request, isOpen, isChosen, canVote, onToggle }: ItemProps) {
  const { id, agent_id, action, expires_at, requirements } = request
  return (
    <li className={styles['item']} data-id={id} data-open={isOpen ? '' : undefined}>
      <input
        type="checkbox"
        aria-label={t.approvals.select(
          `${spellOut(action)} ${spellOut(resourceText(request))}`.trim(),
        )}
        checked={isChosen}
        disabled={!canVote}
        onChange={onToggle}
      />
      <Link
        to="/approvals/$id"
        params={{ id }}
        preload={false}
        aria-current={isOpen ? 'true' : undefined}
        activeProps={{}}
      >
        <Literal>{titleOf(request)}</Literal>
      </Link>
      <span className={styles['side']}>
        {t.approvals.ends} <Ago at={expires_at} />
      </span>
      <small>
        <Literal>{[agent_id, resourceText(request)].filter(Boolean).join(' · ')}</Literal>
      </small>
      <span className={styles['side']}>{amountText(request)}</span>
      {failedText(requirements) !== null && (
        <span className={styles['failed']}>
          <Badge tone="wait">{t.approvals.notEvaluated}</Badge>
        </span>
      )}
    </li>
  )
}

/** On a phone, a request stands alone. */
const BackLink = () => (
  <Link to="/approvals" className={styles['back']} activeProps={{}}>
    ← {t.approvals.back}
  </Link>
)

/** Many can be rejected at once; approved together only under one rule. */
function Bulk({ selected, onVote }: { selected: Request[]; onVote: (vote: Vote) => void }) {
  const rules = new Set(
    selected.map(({ requirements }) =>
      requirements.map((one) => `${one.rule_id} ${one.condition_failed ?? false}`).join(' '),
    ),
  )
  return (
    <div className={styles['bulk']}>
      <span>{t.approvals.selected(selected.length)}</span>
      <Button
        disabled={rules.size > 1}
        onClick={() => onVote({ decision: 'approve', requests: selected })}
      >
        {t.approvals.approve}
      </Button>
      <Button tone="danger" onClick={() => onVote({ decision: 'reject', requests: selected })}>
        {t.approvals.reject}
      </Button>
      {rules.size > 1 && <Note tone="info">{t.approvals.oneRule}</Note>}
    </div>
  )
}
