import { summaryOf, titleOf } from '@remit/contract/fit'
import { RemitError } from '@remit/contract/client'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf, remit } from '../../api/client.ts'
import { refresh } from '../../api/query-client.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Modal } from '../../ui/modal.tsx'
import { CurlButton, Failure } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { Literal } from '../../ui/values.tsx'
import styles from './approvals.module.css'
import { FailedRules, FieldTable, RequestFields } from './facts.tsx'
import type { Request } from './queries.ts'

export interface Vote {
  readonly decision: 'approve' | 'reject'
  readonly requests: readonly Request[]
}

interface DecideDialogProps {
  readonly vote: Vote | null
  readonly onClose: (isDone: boolean) => void
}

export function DecideDialog({ vote, onClose }: DecideDialogProps) {
  if (!vote) return null
  return <DecideForm key={vote.decision} vote={vote} onClose={onClose} />
}

function DecideForm({ vote, onClose }: { vote: Vote; onClose: (isDone: boolean) => void }) {
  const { decision, requests } = vote
  const [comment, setComment] = useState('')
  const isNeeded = requests.some(({ requirements }) =>
    requirements.some(({ reason_required }) => reason_required),
  )
  const body = { decision, ...(comment.trim() !== '' && { comment: comment.trim() }) }
  const decide = useMutation({
    mutationFn: () => castAll(requests, body),
    onSuccess: (failures) => {
      const [first] = failures
      const done = decision === 'approve' ? t.approvals.approved : t.approvals.rejected
      if (first === undefined) announce(done)
      else announce(t.approvals.failed(failures.length), first)
      onClose(true)
    },
    onSettled: () => refresh('approvals'),
  })
  const [first] = requests
  const only = requests.length === 1 ? first : undefined
  const word = decision === 'approve' ? t.approvals.approve : t.approvals.reject
  const what = only ? summaryOf(only) : t.approvals.several(requests.length)
  return (
    <Modal
      isOpen
      title={<Literal>{`${word} ${what}`}</Literal>}
      onClose={() => onClose(false)}
      footer={
        <>
          <CurlButton
            request={() => ({
              method: 'POST',
              path: `/v1/approvals/${first?.id ?? ''}/decide`,
              body,
            })}
          />
          <Button onClick={() => onClose(false)}>{t.common.cancel}</Button>
          <Button
            type="submit"
            form="decide"
            tone={decision === 'approve' ? 'primary' : 'danger'}
            disabled={decide.isPending || (isNeeded && comment.trim() === '')}
          >
            {word}
          </Button>
        </>
      }
    >
      {only ? (
        <>
          <p className={ui['muted']}>
            <Literal>{only.agent_id}</Literal> {t.approvals.asks} <Literal>{titleOf(only)}</Literal>
          </p>
          <FailedRules request={only} />
          <RequestFields request={only} />
        </>
      ) : (
        <ul className={styles['bundle']}>
          {requests.map((request) => (
            <li key={request.id}>
              <Literal as="strong">{summaryOf(request)}</Literal>{' '}
              <span className={ui['muted']}>
                <Literal>{request.agent_id}</Literal> {t.approvals.asks}{' '}
                <Literal>{titleOf(request)}</Literal>
              </span>
              <FailedRules request={request} />
              <FieldTable request={request} />
            </li>
          ))}
        </ul>
      )}
      <form
        id="decide"
        onSubmit={(event) => {
          event.preventDefault()
          decide.mutate()
        }}
      >
        <TextArea
          label={t.approvals.comment}
          hint={isNeeded ? t.approvals.commentNeeded : t.approvals.commentHint}
          value={comment}
          required={isNeeded}
          onValue={setComment}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
              event.currentTarget.form?.requestSubmit()
          }}
        />
      </form>
      {decide.error && <Failure error={decide.error} />}
    </Modal>
  )
}

/** One vote for each; returns the failures. A single failed vote is thrown. */
async function castAll(
  requests: readonly Request[],
  body: { decision: 'approve' | 'reject'; comment?: string },
): Promise<string[]> {
  const failures: string[] = []
  for (const { id } of requests)
    try {
      await remit.decideApproval({ params: { requestID: id }, body })
    } catch (error) {
      const isClosed = error instanceof RemitError && error.code === 'approval_closed'
      if (requests.length === 1 && !isClosed) throw error
      failures.push(isClosed ? t.approvals.closed : messageOf(error))
    }
  return failures
}
