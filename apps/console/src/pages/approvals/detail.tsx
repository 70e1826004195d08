import { summaryOf, titleOf } from '@remit/contract/fit'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { remit } from '../../api/client.ts'
import { changesIn } from '../../api/propose.ts'
import { refresh } from '../../api/query-client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Facts, Row, Stack } from '../../ui/layout.tsx'
import { Failure, Loaded, Note, Pre } from '../../ui/states.tsx'
import ui from '../../ui/ui.module.css'
import { Ago, Badge, Id, Literal, Time } from '../../ui/values.tsx'
import type { Tone } from '../../ui/values.tsx'
import styles from './approvals.module.css'
import type { Vote } from './decide-dialog.tsx'
import {
  AgentFacts,
  ApprovedBefore,
  FailedRules,
  LastDecisions,
  RequestFields,
  SpendOfAgent,
  useCanVote,
} from './facts.tsx'
import { fieldsOf, valueText } from './difference.ts'
import { RuleChanges } from './rule-changes.tsx'
import { requestQuery } from './queries.ts'
import type { Request } from './queries.ts'

const TONES: Readonly<Record<Request['status'], Tone | undefined>> = {
  pending: 'wait',
  approved: 'allow',
  consumed: 'allow',
  rejected: 'deny',
  revoked: 'deny',
  expired: undefined,
  cancelled: undefined,
}

export const Status = ({ status }: { status: Request['status'] }) => (
  <Badge tone={TONES[status]}>{t.approvals.statuses[status]}</Badge>
)

interface DetailProps {
  readonly id: string
  readonly onVote: (vote: Vote) => void
}

export function RequestDetail({ id, onVote }: DetailProps) {
  const query = useQuery(requestQuery(id))
  return (
    <div>
      <Loaded query={query}>{(request) => <Detail request={request} onVote={onVote} />}</Loaded>
    </div>
  )
}

function Detail({ request, onVote }: { request: Request; onVote: (vote: Vote) => void }) {
  const { agent_id, status } = request
  const can = useCan()
  const canVote = useCanVote()
  // A used amount is part of what was spent.
  const isOpen = status === 'pending' || status === 'approved'
  const title = titleOf(request)
  const changes = changesIn(request)
  const summary = changes ? t.policySets.requestTitle : summaryOf(request)
  return (
    <Card
      title={
        <span className={styles['title']}>
          <Literal as="strong">{summary}</Literal>
          <small>
            <Literal>{agent_id}</Literal> {t.approvals.asks} <Literal>{title}</Literal>
          </small>
        </span>
      }
      actions={<Status status={status} />}
    >
      <Stack>
        <FailedRules request={request} />
        <Decide request={request} onVote={onVote} />
        {changes ? (
          <RuleChanges request={request} changes={changes} />
        ) : (
          <>
            <div>
              <h3>{t.approvals.request}</h3>
              <RequestFields request={request} />
            </div>
            <AgentFacts request={request} />
            {isOpen && can('GET /v1/spend-limits/{id}') && <SpendOfAgent request={request} />}
            <ApprovedBefore request={request} />
            {can('GET /v1/ledger') && <LastDecisions request={request} />}
          </>
        )}
        <Rules request={request} />
        <Votes request={request} />
        <Exact request={request} />
        <Row>
          {!changes && (
            <Link to="/decisions/$id" params={{ id: request.decision_id }}>
              {t.approvals.entry}
            </Link>
          )}
          {!changes && can('POST /v1/policies') && (status !== 'pending' || canVote(request)) && (
            <Link to="/policies/$id" params={{ id: 'new' }} search={{ like: request.id }}>
              {t.approvals.always}
            </Link>
          )}
          {status === 'approved' && can('POST /v1/approvals/{id}/revoke') && (
            <Revoke id={request.id} />
          )}
        </Row>
      </Stack>
    </Card>
  )
}

/** The exact text of the request, complete, and what the host adds. */
function Exact({ request }: { request: Request }) {
  const { session } = fieldsOf(request)
  const { requested_at, expires_at, requested_by: by } = request
  return (
    <>
      <Facts
        rows={[
          [t.approvals.requestedAt, <Time key="r" at={requested_at} as="full" />],
          [
            t.approvals.expires,
            <span key="e">
              <Time at={expires_at} as="full" />
              {request.status === 'pending' && (
                <>
                  {' · '}
                  <Ago at={expires_at} />
                </>
              )}
            </span>,
          ],
        ]}
      />
      {session.length > 0 && (
        <details className={styles['more']}>
          <summary>{t.approvals.session}</summary>
          <dl className={styles['fields']}>
            {session.map(({ path, pointer, value }) => (
              <div key={pointer}>
                <Literal as="dt">{path}</Literal>
                <Literal as="dd" lines>
                  {valueText(value)}
                </Literal>
              </div>
            ))}
          </dl>
        </details>
      )}
      <details className={styles['more']}>
        <summary>{t.approvals.exact}</summary>
        <p className={ui['hint']}>{t.approvals.requestHint}</p>
        <Pre label={t.approvals.exact} className={styles['shown']}>
          <Literal>{request.shown}</Literal>
        </Pre>
        <p className={styles['hash']}>
          {t.approvals.hash}: <code>{request.binding_hash}</code>
        </p>
        <p className={styles['hash']}>
          {t.approvals.requestedBy}: <Literal>{`${by.type} ${by.id}`}</Literal>
        </p>
      </details>
    </>
  )
}

function Decide({ request, onVote }: { request: Request; onVote: (vote: Vote) => void }) {
  const canVote = useCanVote()
  if (request.status !== 'pending') return null
  if (!canVote(request)) {
    const why = request.why_not ?? ''
    return (
      <Note tone="info">
        <span>
          <strong>{t.approvals.cannot}.</strong> <Literal>{why || t.approvals.roleText}</Literal>
        </span>
      </Note>
    )
  }
  return (
    <div className={styles['decide']}>
      <Button tone="primary" onClick={() => onVote({ decision: 'approve', requests: [request] })}>
        {t.approvals.approve}
      </Button>
      <Button tone="danger" onClick={() => onVote({ decision: 'reject', requests: [request] })}>
        {t.approvals.reject}
      </Button>
    </div>
  )
}

function Rules({ request: { requirements, votes } }: { request: Request }) {
  const have = votes.filter(({ decision }) => decision === 'approve').length
  return (
    <div>
      <h3>{t.approvals.rules}</h3>
      {requirements.map(({ rule_id, description, required, approvers, condition_failed }) => (
        <div key={rule_id} className={styles['rule']}>
          <div className={styles['ruleHead']}>
            <Id>{rule_id}</Id>
            {condition_failed && <Badge tone="wait">{t.approvals.notEvaluated}</Badge>}
            <Badge tone={have >= required ? 'allow' : 'wait'}>
              {t.approvals.progress(Math.min(have, required), required)}
            </Badge>
          </div>
          {description && (
            <Literal as="span" className={ui['muted']}>
              {description}
            </Literal>
          )}
          <span className={ui['muted']}>
            {t.approvals.approvers}: <Literal>{approversText(approvers)}</Literal>
          </span>
        </div>
      ))}
    </div>
  )
}

const approversText = (approvers: Request['requirements'][number]['approvers']): string =>
  approvers === null
    ? t.approvals.everyApprover
    : [...approvers.users, ...approvers.roles.map(t.approvals.role)].join(', ')

function Votes({ request: { votes } }: { request: Request }) {
  return (
    <div>
      <h3>{t.approvals.votes}</h3>
      {votes.length === 0 && <p className={ui['muted']}>{t.approvals.noVotes}</p>}
      {votes.map(({ approver, decision, comment, at }) => (
        <div key={approver.id} className={styles['rule']}>
          <div className={styles['ruleHead']}>
            <Literal as="span" title={approver.named ? t.approvals.named : t.approvals.unnamed}>
              {approver.id}
            </Literal>
            <Row>
              <Badge tone={decision === 'approve' ? 'allow' : 'deny'}>{decision}</Badge>
              <Time at={at} />
            </Row>
          </div>
          {comment !== null && (
            <Literal as="span" className={ui['muted']}>
              {comment}
            </Literal>
          )}
        </div>
      ))}
    </div>
  )
}

function Revoke({ id }: { id: string }) {
  const revoke = useMutation({
    mutationFn: () => remit.revokeApproval({ params: { id } }),
    onSettled: () => refresh('approvals'),
  })
  return (
    <>
      <Button tone="danger" disabled={revoke.isPending} onClick={() => revoke.mutate()}>
        {t.approvals.revoke}
      </Button>
      {revoke.error && <Failure error={revoke.error} />}
    </>
  )
}
