import type { Approval } from '@remit/contract'
import { Link } from '@tanstack/react-router'
import { t } from '../../texts.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Card, Facts, Stack, Table } from '../../ui/layout.tsx'
import ui from '../../ui/ui.module.css'
import { Badge, Id } from '../../ui/values.tsx'
import { Status } from '../approvals/detail.tsx'
import type { Recorded } from './story.ts'

interface ApprovalOfProps {
  readonly approval: Approval
  readonly decision: Recorded & { readonly decision_id?: string }
}

/** The approval of a decision: who voted how, and the decisions before and after. */
export function ApprovalOf({ approval, decision }: ApprovalOfProps) {
  const { id, status, votes, decision_id: asked, consumed_by: used } = approval
  const own = decision.decision_id
  return (
    <Card
      title={t.decisions.votes}
      actions={
        <>
          <Status status={status} />
          <Link to="/approvals/$id" params={{ id }} className={buttonClass()}>
            {t.nav.approvals}
          </Link>
        </>
      }
    >
      <Stack>
        <Facts
          rows={[
            [t.decisions.asked, asked === own ? null : <DecisionLink key="a" id={asked} />],
            [
              t.decisions.used,
              used === null || used === own ? null : <DecisionLink key="u" id={used} />,
            ],
          ]}
        />
        {votes.length === 0 ? (
          <p className={ui['muted']}>{t.approvals.noVotes}</p>
        ) : (
          <Table
            label={t.approvals.votes}
            rows={votes}
            rowKey={({ approver }) => approver.id}
            csv="votes"
            columns={[
              {
                name: t.decisions.deciders,
                value: ({ approver }) => approver.email ?? approver.id,
              },
              {
                name: t.decisions.vote,
                value: ({ decision: vote }) => vote,
                cell: ({ decision: vote }) => (
                  <Badge tone={vote === 'approve' ? 'allow' : 'deny'}>{vote}</Badge>
                ),
              },
              { name: t.ledger.time, value: ({ at }) => at, as: 'time' },
              { name: t.decisions.comment, value: ({ comment }) => comment },
            ]}
          />
        )}
      </Stack>
    </Card>
  )
}

const DecisionLink = ({ id }: { id: string }) => (
  <Link to="/decisions/$id" params={{ id }}>
    <Id>{id}</Id>
  </Link>
)
