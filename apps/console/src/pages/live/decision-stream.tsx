import type { Entry } from '@remit/contract'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Row, Stack, Table } from '../../ui/layout.tsx'
import { Empty, Failure, Note, Skeleton } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Decision, Id, Literal, Time } from '../../ui/values.tsx'
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
            columns={[
              {
                name: t.ledger.seq,
                cell: ({ seq }) => (
                  <Link to="/ledger/$seq" params={{ seq: String(seq) }}>
                    {seq}
                  </Link>
                ),
              },
              { name: t.ledger.time, cell: ({ recorded_at }) => <Time at={recorded_at} /> },
              {
                name: t.ledger.decision,
                cell: ({ decision }) => decision !== null && <Decision decision={decision} />,
              },
              { name: t.ledger.agent, cell: ({ agent_id }) => <Id>{agent_id ?? '–'}</Id> },
              { name: t.ledger.action, cell: ({ action }) => <Id>{action ?? '–'}</Id> },
              { name: t.ledger.resource, cell: ({ resource }) => <Id>{resource || '–'}</Id> },
              {
                name: t.ledger.reason,
                cell: ({ reason }) => (
                  <span className={ui['muted']}>
                    <Literal>{reason ?? '–'}</Literal>
                  </span>
                ),
              },
            ]}
          />
        )}
      </Stack>
    </Card>
  )
}
