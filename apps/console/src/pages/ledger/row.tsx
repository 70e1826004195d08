import type { Entry } from '@remit/contract'
import { Link } from '@tanstack/react-router'
import { memo } from 'react'
import { spellOut } from '../../format/literal.ts'
import ui from '../../ui/ui.module.css'
import { Decision, Id, Literal, Time } from '../../ui/values.tsx'
import styles from './explorer.module.css'

interface RowProps {
  readonly index: number
  readonly start: number
  readonly entry: Entry | undefined
  readonly isOpen: boolean
}

export const LedgerRow = memo(function LedgerRow({ index, start, entry, isOpen }: RowProps) {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={styles['row']}
      data-open={isOpen ? '' : undefined}
      style={{ transform: `translateY(${start}px)` }}
    >
      {entry ? <Cells entry={entry} /> : <span role="cell" className={styles['wait']} />}
    </div>
  )
})

function Cells({ entry }: { entry: Entry }) {
  const { seq, recorded_at, kind, agent_id, actor, action, resource, decision, reason } = entry
  return (
    <>
      <span role="cell">
        <Link to="/ledger/$seq" params={{ seq: String(seq) }} search={true} preload={false}>
          {seq}
        </Link>
      </span>
      <span role="cell">
        <Time at={recorded_at} />
      </span>
      <span role="cell" title={spellOut(kind)}>
        <Literal>{kind}</Literal>
      </span>
      <span role="cell">{decision !== null && <Decision decision={decision} />}</span>
      <span role="cell">
        {agent_id !== null || actor === null ? (
          <Optional text={agent_id} />
        ) : (
          <Id className={ui['muted'] ?? ''}>{actor.id}</Id>
        )}
      </span>
      <span role="cell">
        <Optional text={action} />
      </span>
      <span role="cell">
        <Optional text={resource} />
      </span>
      <span role="cell" className={ui['muted']}>
        <Optional text={reason} />
      </span>
    </>
  )
}

const Optional = ({ text }: { text: string | null | undefined }) =>
  text ? <Id>{text}</Id> : <span className={styles['none']}>–</span>
