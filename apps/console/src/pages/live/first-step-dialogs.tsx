import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldErrorsOf, remit } from '../../api/client.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { Modal } from '../../ui/modal.tsx'
import { CurlButton, Failure, Note } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import { Decision, Literal } from '../../ui/values.tsx'
import { agentsQuery } from '../agents/queries.ts'
import { faultAt } from '../rules/use-validation.ts'

interface DialogProps {
  readonly onClose: () => void
}

/** Asks for a decision as an agent would: it is recorded, and holds no amount. */
export function AskDialog({ onClose }: DialogProps) {
  const client = useQueryClient()
  const agents = useQuery(agentsQuery)
  const [agent, setAgent] = useState<string | null>(null)
  const [action, setAction] = useState('mail.send')
  const body = { agent_id: agent ?? agents.data?.data[0]?.agent_id ?? '', action }
  const ask = useMutation({
    mutationFn: () => remit.authorize({ body }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['first-steps'] }),
  })
  const faultOf = (path: string) => faultAt(fieldErrorsOf(ask.error), path)
  return (
    <Modal
      isOpen
      title={t.firstSteps.names.decision}
      onClose={onClose}
      footer={
        <>
          <CurlButton request={() => ({ method: 'POST', path: '/v1/authorize', body })} />
          <Button onClick={onClose}>{t.common.close}</Button>
          <Button tone="primary" disabled={ask.isPending} onClick={() => ask.mutate()}>
            {t.firstSteps.take.decision}
          </Button>
        </>
      }
    >
      <p>{t.firstSteps.askText}</p>
      <Input
        mono
        label={t.agents.id}
        value={body.agent_id}
        fault={faultOf('agent_id')}
        onValue={setAgent}
      />
      <Input
        mono
        label={t.ledger.action}
        value={action}
        fault={faultOf('action')}
        onValue={setAction}
      />
      {ask.data && (
        <Note tone="info">
          <span role="status">
            <Decision decision={ask.data.decision} /> <Literal>{ask.data.message}</Literal>
          </span>
        </Note>
      )}
      {ask.error && <Failure error={ask.error} />}
    </Modal>
  )
}

/** Makes deny the decision without a matching policy. */
export function DenyDialog({ onClose }: DialogProps) {
  const client = useQueryClient()
  const body = { settings: { default_effect: 'deny' as const } }
  const change = useMutation({
    mutationFn: () => remit.changeOrganization({ body }),
    onSuccess: async () => {
      announce(t.settings.saved)
      await client.invalidateQueries()
      onClose()
    },
  })
  return (
    <Modal
      isOpen
      title={t.firstSteps.names.deny}
      onClose={onClose}
      footer={
        <>
          <CurlButton request={() => ({ method: 'PATCH', path: '/v1/organization', body })} />
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button tone="primary" disabled={change.isPending} onClick={() => change.mutate()}>
            {t.firstSteps.take.deny}
          </Button>
        </>
      }
    >
      <p>{t.firstSteps.denyText}</p>
      {change.error && <Failure error={change.error} />}
    </Modal>
  )
}
