import { useMutation } from '@tanstack/react-query'
import { CircleCheck, CircleDashed, CircleX } from 'lucide-react'
import { useState } from 'react'
import { count } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { Card, Row, Stack } from '../../ui/layout.tsx'
import { Id } from '../../ui/values.tsx'
import ui from '../../ui/ui.module.css'
import { recall, remember } from '../../verify/memory.ts'
import { headerOf, readVerifierKey } from '../../verify/verify.ts'
import { verifyEntry } from '../../verify/verdict.ts'
import type { Check, CheckName, Source, Verdict } from '../../verify/verdict.ts'
import type { FullEntry } from './entry.tsx'
import styles from './explorer.module.css'
import { ledgerSource } from './source.ts'

export function Verification({ entry }: { entry: FullEntry }) {
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
          aria-label={result ? verdictText(result.verdict) : t.verify.lead}
          className={result && styles['verdict']}
          data-state={result?.verdict.state}
        >
          {check.isPending
            ? t.verify.running
            : result
              ? verdictText(result.verdict)
              : t.verify.lead}
        </output>
        {result && <Checks {...result} />}
        {result?.verdict.note && (
          <details>
            <summary>{t.verify.hashed}</summary>
            <pre
              className={styles['payload']}
              tabIndex={0}
              role="region"
              aria-label={t.verify.hashed}
            >
              {headerOf(/\/ledger\/([^/]+)\//.exec(result.verdict.note.origin)?.[1] ?? '', {
                ...entry,
                payload: entry.payload ?? null,
              })}
            </pre>
          </details>
        )}
        {result?.verdict.note && (
          <PinnedKey origin={result.verdict.note.origin} onPinned={check.reset} />
        )}
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
    const key = await readVerifierKey(text.trim()).catch(() => null)
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
