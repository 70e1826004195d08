import { RemitError } from '@remit/contract/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { messageOf, remit } from '../../api/client.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Modal } from '../../ui/modal.tsx'
import { CurlButton, Failure } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import { Literal } from '../../ui/values.tsx'
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
  const client = useQueryClient()
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
    onSettled: () => client.invalidateQueries({ queryKey: ['approvals'] }),
  })
  const title = decision === 'approve' ? t.approvals.approveTitle : t.approvals.rejectTitle
  const first = requests[0]?.id ?? ''
  return (
    <Modal
      isOpen
      title={title(requests.length)}
      onClose={() => onClose(false)}
      footer={
        <>
          <CurlButton
            request={() => ({ method: 'POST', path: `/v1/approvals/${first}/decide`, body })}
          />
          <Button onClick={() => onClose(false)}>{t.common.cancel}</Button>
          <Button
            type="submit"
            form="decide"
            tone={decision === 'approve' ? 'primary' : 'danger'}
            disabled={decide.isPending || (isNeeded && comment.trim() === '')}
          >
            {decision === 'approve' ? t.approvals.approve : t.approvals.reject}
          </Button>
        </>
      }
    >
      <ul>
        {requests.map(({ id, agent_id, action, shown }) => (
          <li key={id} title={shown}>
            <strong>
              <Literal>{action}</Literal>
            </strong>{' '}
            <Literal>{agent_id}</Literal>
          </li>
        ))}
      </ul>
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
