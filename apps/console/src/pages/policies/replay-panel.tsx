import type { PolicyInput, Replay, FlipKind } from '@remit/contract'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { count } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { Card, Facts, Row, Stack, Table } from '../../ui/layout.tsx'
import { CurlButton, Failure, Note, Skeleton } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Id, Literal } from '../../ui/values.tsx'
import { SEQ_COLUMN } from '../ledger/columns.tsx'
import styles from './policies.module.css'

const DAY_MS = 86_400_000
const DAYS = [1, 7, 30]

/** The request that replays the recorded decisions of some days under a draft, in place of the rule `id`. */
const replayBody = (input: PolicyInput, id: string | null, days: number, now = Date.now()) => ({
  from: new Date(now - days * DAY_MS).toISOString(),
  to: new Date(now).toISOString(),
  limit: 50,
  // A disabled rule decides nothing: it is as if it were not there.
  overlay: { add: input.enabled ? [input] : [], remove: id === null ? [] : [id] },
})

interface ReplayPanelProps {
  readonly input: PolicyInput
  readonly id: string | null
  /** The replay that is shown was made with exactly this draft. */
  readonly isCurrent: boolean
  readonly isDisabled: boolean
  readonly onReplayed: (text: string) => void
}

/** Decisions of the past under the draft, before it decides any. */
export function ReplayPanel({ input, id, isCurrent, isDisabled, onReplayed }: ReplayPanelProps) {
  const [days, setDays] = useState(7)
  const run = useMutation({
    mutationFn: (draft: PolicyInput) =>
      remit.replayPolicies({ body: replayBody(draft, id, days), timeoutMs: 90_000 }),
    onSuccess: (_, draft) => onReplayed(JSON.stringify(draft)),
  })
  return (
    <Card title={t.policies.replayTitle}>
      <Stack>
        <p className={ui['muted']}>{t.policies.replayLead}</p>
        <Row>
          <Select
            label={t.policies.period}
            value={String(days)}
            options={DAYS.map((n) => [String(n), t.policies.days(n)])}
            onValue={(value) => setDays(Number(value))}
          />
          <Button
            tone={isCurrent ? undefined : 'primary'}
            disabled={run.isPending || isDisabled || input.actions.length === 0}
            onClick={() => run.mutate(input)}
          >
            {run.isPending ? t.policies.replaying : t.policies.replay}
          </Button>
          <CurlButton
            request={() => ({
              method: 'POST',
              path: '/v1/compliance/policies/replay',
              body: replayBody(input, id, days),
            })}
          />
        </Row>
        {run.error && <Failure error={run.error} />}
        {run.isPending && <Skeleton />}
        {run.data && !isCurrent && !run.isPending && <Note tone="wait">{t.policies.stale}</Note>}
        {run.data && !run.isPending && <Result result={run.data} />}
      </Stack>
    </Card>
  )
}

function Result({ result }: { result: Replay }) {
  const { flipped, flips, decisions, not_replayable: left, judged_by, notes } = result
  const total = FLIP_KINDS.reduce((sum, kind) => sum + flipped[kind], 0)
  const missing = Object.values(left).reduce((sum, n) => sum + n, 0)
  return (
    <Stack>
      <div role="status">
        {t.policies.replayed(count(decisions))}
        {total === 0 && decisions > 0 && `. ${t.policies.noFlips}`}
        {missing > 0 && `. ${t.policies.notReplayable(count(missing))}`}
      </div>
      <div className={styles['flips']}>
        {FLIP_KINDS.map((kind) => (
          <div key={kind} className={styles['flip']}>
            <strong>{count(flipped[kind])}</strong>
            <span>{t.policies.flips[kind]}</span>
          </div>
        ))}
      </div>
      {flips.length > 0 && (
        <Table
          label={t.policies.replayTitle}
          rows={flips}
          rowKey={({ seq }) => String(seq)}
          csv="replay"
          columns={[
            SEQ_COLUMN,
            { name: t.ledger.agent, value: ({ agent_id }) => agent_id },
            { name: t.ledger.action, value: ({ action }) => action },
            { name: t.ledger.decision, value: ({ kind }) => t.policies.flips[kind] },
            {
              name: t.policies.byRule,
              value: ({ cause }) => cause ?? t.policies.defaultEffect,
              as: 'id',
            },
          ]}
        />
      )}
      <Facts rows={[[t.policies.digest, <Id key="d">{judged_by.digest}</Id>]]} />
      {notes.map((note) => (
        <Literal as="p" key={note} className={ui['hint']}>
          {note}
        </Literal>
      ))}
    </Stack>
  )
}

/** Every kind of flip, in the order of their weight. */
const FLIP_KINDS: readonly FlipKind[] = [
  'allow_to_deny',
  'needs_approval_to_deny',
  'deny_to_allow',
  'deny_to_needs_approval',
]
