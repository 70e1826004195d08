import { RemitError } from '@remit/contract/client'
import type { Entry } from '@remit/contract'
import { isObject, parseJson } from '@remit/contract/fit'
import { useQuery, useMutation } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ChevronDown, ChevronUp, X, CircleCheck, CircleDashed, CircleX } from 'lucide-react'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { useActorText } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { buttonClass, Button } from '../../ui/button.tsx'
import { Card, Facts, Row, Stack } from '../../ui/layout.tsx'
import { CopyButton, CurlButton, Loaded, Note, Pre } from '../../ui/states.tsx'
import { Decision, Id, Literal, Time } from '../../ui/values.tsx'
import styles from './explorer.module.css'
import { count } from '../../format/money.ts'
import { Input } from '../../ui/field.tsx'
import ui from '../../ui/ui.module.css'
import { headerOf } from '@remit/verify/pure'
import { recall, remember } from '../../verify/memory.ts'
import { readKey, verifyEntry } from '../../verify/verdict.ts'
import type { Check, CheckName, Source, Verdict } from '../../verify/verdict.ts'

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
  const said = parseJson(entry.payload ?? '')
  // The verification says that this is not the text of the ledger.
  if (!isObject(said)) return entry
  return { ...entry, ...Object.fromEntries(MEMBERS.map((name) => [name, said[name]])) }
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
            <CurlButton request={`/v1/ledger/${seq}`} />
          </div>
        </>
      )}
    </Loaded>
  )
}

const names = t.ledger.fields

function EntryFacts({ entry }: { entry: FullEntry }) {
  const actorText = useActorText()
  return (
    <Facts
      rows={[
        [names.kind, entry.kind],
        [names.recorded_at, <Time key="t" at={entry.recorded_at} as="exact" />],
        [names.actor, actorText(entry.actor)],
        [names.agent_id, entry.agent_id],
        [names.action, entry.action],
        [names.resource, entry.resource],
        [names.decision, entry.decision && <Decision decision={entry.decision} />],
        [names.reason, entry.reason],
        [names.commitment, <Id key="c">{entry.commitment}</Id>],
        [names.salt, entry.salt && <Id>{entry.salt}</Id>],
        [names.prev_hash, <Id key="p">{entry.prev_hash}</Id>],
        [names.hash, <Id key="h">{entry.hash}</Id>],
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
      <Pre label={t.ledger.payload} className={styles['payload']}>
        <Literal lines>{JSON.stringify(entry.data, null, 2)}</Literal>
      </Pre>
    </Card>
  )
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** Links to the entries that belong to the same decision and the same trace. */
function EntryLinks({ entry: { data } }: { entry: FullEntry }) {
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

function Verification({ entry }: { entry: FullEntry }) {
  const check = useMutation({
    mutationFn: async () => {
      const verdict = await verifyEntry(entry.seq, shownBy(entry), recall)
      if (verdict.keep && verdict.note) {
        const isFirst = recall(verdict.note.origin).vkey === null
        remember(verdict.note.origin, { ...verdict.keep, seenAt: new Date().toISOString() })
        return { verdict, isFirst }
      }
      return { verdict, isFirst: false }
    },
  })
  const result = check.data
  const note = result?.verdict.note
  const text = result ? verdictText(result.verdict) : t.verify.lead
  return (
    <Card
      title={t.verify.title}
      actions={
        <Button
          tone={result ? undefined : 'primary'}
          disabled={check.isPending}
          onClick={() => check.mutate()}
        >
          {result ? t.verify.again : t.verify.run}
        </Button>
      }
    >
      <Stack>
        <output
          aria-label={text}
          className={result && styles['verdict']}
          data-state={result?.verdict.state}
        >
          {check.isPending ? t.verify.running : text}
        </output>
        {result && <Checks {...result} />}
        {note && (
          <details>
            <summary>{t.verify.hashed}</summary>
            <Pre label={t.verify.hashed} className={styles['payload']}>
              {headerOf(/\/ledger\/([^/]+)\//.exec(note.origin)?.[1] ?? '', entry)}
            </Pre>
          </details>
        )}
        {note && <PinnedKey origin={note.origin} onPinned={check.reset} />}
      </Stack>
    </Card>
  )
}

/** The page verifies the very entry that it shows, and asks only for the rest. */
const shownBy = (entry: FullEntry): Source => ({
  ...ledgerSource,
  entry: (seq) =>
    seq === entry.seq
      ? Promise.resolve({ ...entry, payload: entry.payload ?? null })
      : ledgerSource.entry(seq),
})

function verdictText({ state, fault, missing, note, problem = '' }: Verdict): string {
  if (state === 'verified') return t.verify.verifiedText(count(note?.size ?? 0))
  if (state === 'not_verified') return t.verify.notVerified + t.verify.faults[fault ?? 'malformed']
  return t.verify.notChecked + t.verify.missing[missing ?? 'answer'] + problem
}

const ICONS = { ok: CircleCheck, failed: CircleX, not_checked: CircleDashed }

function Checks({ verdict, isFirst }: { verdict: Verdict; isFirst: boolean }) {
  return (
    <ul className={styles['checks']}>
      {verdict.checks.map((check) => {
        const Icon = ICONS[check.state]
        const detail = detailOf(check, isFirst)
        return (
          <li key={check.name} data-state={check.state}>
            <Icon role="img" aria-label={t.verify.states[check.state]} />
            <span>
              {t.verify.checks[check.name]}
              {detail && <small>{detail}</small>}
            </span>
          </li>
        )
      })}
    </ul>
  )
}

function detailOf({ name, state, detail = {} }: Check, isFirst: boolean): string | null {
  const number = (fact: string) => count(Number(detail[fact] ?? 0))
  const texts: Record<CheckName, () => string | null> = {
    payload: () => (state === 'not_checked' ? t.verify.erased : null),
    header: () => null,
    inclusion: () => ('size' in detail ? t.verify.ofSize(number('size')) : null),
    signature: () => ('key' in detail ? t.verify.byKey(String(detail['key'])) : null),
    key: () => (isFirst && 'key' in detail ? t.verify.firstKey(String(detail['key'])) : null),
    consistency: () => {
      if ('from' in detail) return t.verify.grew(number('from'), number('to'))
      return isFirst ? t.verify.firstSight : null
    },
  }
  return texts[name]()
}

function PinnedKey({ origin, onPinned }: { origin: string; onPinned: () => void }) {
  const { vkey } = recall(origin)
  const [text, setText] = useState('')
  const [isBad, setBad] = useState(false)
  const pin = async () => {
    const key = await readKey(text.trim())
    setBad(key === null)
    if (!key) return
    remember(origin, { vkey: text.trim(), note: null })
    setText('')
    onPinned()
  }
  return (
    <details>
      <summary>{t.verify.pinnedKey}</summary>
      <Stack>
        {vkey === null ? <p className={ui['hint']}>{t.verify.noPin}</p> : <Id>{vkey}</Id>}
        <Row>
          <Input
            label={t.verify.pinnedKey}
            hint={t.verify.pinHint}
            fault={isBad ? t.verify.badKey : undefined}
            value={text}
            onValue={setText}
            mono
          />
          <Button onClick={() => void pin()}>{t.verify.pin}</Button>
        </Row>
      </Stack>
    </details>
  )
}

/** The requests of the verification to the server. */
const ledgerSource: Source = {
  entry: (seq) => remit.getEntry({ params: { seq } }),
  proof: (seq, size) =>
    remit.getProof({ params: { seq }, query: size === undefined ? {} : { size } }),
  consistency: async (from, to) => (await remit.getConsistency({ query: { from, to } })).proof,
  keys: async () => (await remit.listLedgerKeys()).data,
}
