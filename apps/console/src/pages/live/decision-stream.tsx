import type { Entry } from '@remit/contract'
import type { ReactNode } from 'react'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Row, Stack, Table } from '../../ui/layout.tsx'
import { Empty, Failure, Note, Skeleton } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { SEQ_COLUMN } from '../ledger/seq-column.tsx'
import { Decided } from '../decisions/decided.tsx'
import type { Decisions } from './use-decisions.ts'

const ASK = {
  method: 'POST',
  path: '/v1/authorize',
  body: { agent_id: 'payer', action: 'payments.transfer', context: { amount_usd: 60 } },
}

interface DecisionStreamProps {
  readonly decisions: Decisions
  readonly isMatch: (entry: Entry) => boolean
  readonly filters: ReactNode
}

export function DecisionStream({ decisions, isMatch, filters }: DecisionStreamProps) {
  const { stream, error, isLoading, hasStream, pause, resume } = decisions
  const rows = stream.shown.filter(isMatch)
  return (
    <Card
      title={t.live.stream}
      actions={
        <Row>
          {stream.isPaused && (
            <span className={ui['muted']}>{t.live.paused(stream.waiting.length)}</span>
          )}
          <Button onClick={stream.isPaused ? resume : pause}>
            {stream.isPaused ? t.live.resume : t.live.pause}
          </Button>
        </Row>
      }
    >
      <Stack>
        <Row>{filters}</Row>
        {stream.isSampled && <Note tone="wait">{t.live.sampled}</Note>}
        {!hasStream && <p className={ui['hint']}>{t.live.noStream}</p>}
        {error ? <Failure error={error} /> : null}
        {isLoading && <Skeleton />}
        {!isLoading && rows.length === 0 && (
          <Empty title={t.live.empty} request={ASK}>
            {t.live.emptyText}
          </Empty>
        )}
        {rows.length > 0 && (
          <Table<Entry>
            label={t.live.stream}
            rows={rows}
            rowKey={({ seq }) => String(seq)}
            csv="decisions"
            columns={[
              SEQ_COLUMN,
              { name: t.ledger.time, value: ({ recorded_at }) => recorded_at, as: 'time' },
              {
                name: t.ledger.decision,
                value: ({ decision }) => decision,
                cell: (entry) => <Decided entry={entry} />,
              },
              { name: t.ledger.agent, value: ({ agent_id }) => agent_id, as: 'id' },
              { name: t.ledger.action, value: ({ action }) => action, as: 'id' },
              { name: t.ledger.resource, value: ({ resource }) => resource, as: 'id' },
              { name: t.ledger.reason, value: ({ reason }) => reason },
            ]}
          />
        )}
      </Stack>
    </Card>
  )
}
