import { RemitError } from '@remit/contract/client'
import type { Entry } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ChevronDown, ChevronUp, X } from 'lucide-react'
import { remit } from '../../api/client.ts'
import { t } from '../../texts.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Card, Facts } from '../../ui/layout.tsx'
import { CopyButton, CurlButton, Loaded, Note } from '../../ui/states.tsx'
import { Decision, Id, Literal, Time } from '../../ui/values.tsx'
import { EntryLinks } from './entry-links.tsx'
import styles from './explorer.module.css'
import { Verification } from './verification.tsx'

/** An entry with the stored text of its payload. */
export type FullEntry = Entry & { readonly payload?: string | null }

/** One entry, beside the list. */
export function EntryPanel() {
  const { seq } = useParams({ from: '/ledger/$seq' })
  const number = /^\d{1,15}$/.test(seq) ? Number(seq) : null
  return (
    <aside className={styles['panel']} aria-label={t.ledger.entry(number ?? 0)}>
      <header className={styles['panelHead']}>
        <h2>{t.ledger.entry(number ?? 0)}</h2>
        {number !== null && <Neighbours seq={number} />}
        <Link
          to="/ledger"
          search={true}
          className={buttonClass('quiet', true)}
          aria-label={t.ledger.close}
        >
          <X aria-hidden />
        </Link>
      </header>
      <div className={styles['panelBody']} key={number}>
        {number === null ? <p>{t.common.notFound}</p> : <EntryView seq={number} />}
      </div>
    </aside>
  )
}

function Neighbours({ seq }: { seq: number }) {
  return (
    <>
      <Link
        to="/ledger/$seq"
        params={{ seq: String(seq + 1) }}
        search={true}
        className={buttonClass('quiet', true)}
        aria-label={t.ledger.next}
      >
        <ChevronUp aria-hidden />
      </Link>
      {seq > 0 && (
        <Link
          to="/ledger/$seq"
          params={{ seq: String(seq - 1) }}
          search={true}
          className={buttonClass('quiet', true)}
          aria-label={t.ledger.previous}
        >
          <ChevronDown aria-hidden />
        </Link>
      )}
    </>
  )
}

const MEMBERS = ['action', 'actor', 'agent_id', 'data', 'decision', 'reason', 'resource'] as const

/** The entry as its hashed text says it: members beside that text are a server's reading of it. */
function asHashed(entry: FullEntry): FullEntry {
  if (typeof entry.payload !== 'string') return entry
  try {
    const said = JSON.parse(entry.payload) as Entry
    return { ...entry, ...Object.fromEntries(MEMBERS.map((name) => [name, said[name]])) }
  } catch {
    // The verification says that this is not the text of the ledger.
    return entry
  }
}

function EntryView({ seq }: { seq: number }) {
  const query = useQuery({
    queryKey: ['ledger', 'entry', seq],
    queryFn: async ({ signal }): Promise<FullEntry> =>
      asHashed(await remit.getEntry({ params: { seq }, signal })),
    // An entry never changes, except that its payload can be erased.
    staleTime: 60_000,
  })
  const { error } = query
  if (error instanceof RemitError && error.status === 404)
    return <Note tone="wait">{error.problem?.detail}</Note>
  return (
    <Loaded query={query}>
      {(entry) => (
        <>
          <Verification entry={entry} />
          <Card title={t.ledger.header}>
            <EntryFacts entry={entry} />
          </Card>
          <EntryLinks entry={entry} />
          <Payload entry={entry} />
          <div>
            <CurlButton request={() => ({ method: 'GET', path: `/v1/ledger/${seq}` })} />
          </div>
        </>
      )}
    </Loaded>
  )
}

const name = t.ledger.fields

function EntryFacts({ entry }: { entry: FullEntry }) {
  const text = (value: string | null) => (value ? <Literal>{value}</Literal> : null)
  return (
    <Facts
      rows={[
        [name.kind, text(entry.kind)],
        [name.recorded_at, <Time key="t" at={entry.recorded_at} as="exact" />],
        [
          name.actor,
          entry.actor && (
            <>
              <Literal>{`${entry.actor.type} ${entry.actor.id}`}</Literal>
            </>
          ),
        ],
        [name.agent_id, text(entry.agent_id)],
        [name.action, text(entry.action)],
        [name.resource, text(entry.resource)],
        [name.decision, entry.decision && <Decision decision={entry.decision} />],
        [name.reason, text(entry.reason)],
        [name.commitment, <Id key="c">{entry.commitment}</Id>],
        [name.salt, entry.salt && <Id>{entry.salt}</Id>],
        [name.prev_hash, <Id key="p">{entry.prev_hash}</Id>],
        [name.hash, <Id key="h">{entry.hash}</Id>],
      ]}
    />
  )
}

function Payload({ entry }: { entry: FullEntry }) {
  if (entry.data === null) return <Note tone="info">{t.ledger.erased}</Note>
  const exact = entry.payload ?? null
  return (
    <Card
      flush
      title={t.ledger.payload}
      actions={
        <CopyButton text={exact ?? JSON.stringify(entry.data)} label={t.ledger.payloadExact} />
      }
    >
      <pre className={styles['payload']} tabIndex={0} role="region" aria-label={t.ledger.payload}>
        <Literal lines>{JSON.stringify(entry.data, null, 2)}</Literal>
      </pre>
    </Card>
  )
}
