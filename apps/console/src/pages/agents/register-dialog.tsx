import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { fieldErrorsOf, remit } from '../../api/client.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { Modal } from '../../ui/modal.tsx'
import { CurlButton, Failure } from '../../ui/states.tsx'

interface RegisterDialogProps {
  /** The page stays; otherwise that of the agent opens. */
  readonly isStaying?: boolean
  readonly onClose: () => void
}

export function RegisterDialog({ isStaying = false, onClose }: RegisterDialogProps) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [id, setId] = useState('')
  const [name, setName] = useState('')
  const [owner, setOwner] = useState('')
  const [environment, setEnvironment] = useState('')
  const body = {
    ...(id !== '' && { agent_id: id }),
    ...(name !== '' && { name }),
    ...(environment !== '' && { environment }),
    owners: [{ type: 'user' as const, id: owner }],
  }
  const register = useMutation({
    mutationFn: () => remit.registerAgent({ body }),
    onSuccess: async ({ agent_id }) => {
      await client.invalidateQueries({ queryKey: ['agents'] })
      await client.invalidateQueries({ queryKey: ['first-steps'] })
      if (!isStaying) await navigate({ to: '/agents/$id', params: { id: agent_id } })
      onClose()
    },
  })
  const faultOf = (path: string) =>
    fieldErrorsOf(register.error).find((error) => error.path.startsWith(path))?.message
  return (
    <Modal
      isOpen
      title={t.agents.register}
      onClose={onClose}
      footer={
        <>
          <CurlButton request={() => ({ method: 'POST', path: '/v1/identity/agents', body })} />
          <Button onClick={onClose}>{t.common.cancel}</Button>
          <Button
            tone="primary"
            disabled={register.isPending || owner === ''}
            onClick={() => register.mutate()}
          >
            {t.agents.register}
          </Button>
        </>
      }
    >
      <Input label={t.agents.id} value={id} onValue={setId} fault={faultOf('agent_id')} mono />
      <Input label={t.agents.name} value={name} onValue={setName} fault={faultOf('name')} />
      <Input
        required
        label={t.agents.owners}
        hint={t.agents.ownerHint}
        value={owner}
        onValue={setOwner}
        fault={faultOf('owners')}
      />
      <Input
        label={t.agents.environment}
        value={environment}
        onValue={setEnvironment}
        fault={faultOf('environment')}
      />
      {register.error && <Failure error={register.error} />}
    </Modal>
  )
}
