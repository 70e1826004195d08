import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { refresh } from '../../api/query-client.ts'
import { t } from '../../texts.ts'
import { ActionDialog } from '../../ui/action.tsx'
import { Input } from '../../ui/field.tsx'
import { fieldsOf } from '../rules/validation.ts'

interface RegisterDialogProps {
  /** The page stays; otherwise that of the agent opens. */
  readonly isStaying?: boolean
  readonly onClose: () => void
}

export function RegisterDialog({ isStaying = false, onClose }: RegisterDialogProps) {
  const navigate = useNavigate()
  const [draft, setDraft] = useState({ id: '', name: '', owner: '', environment: '' })
  const { id, name, owner, environment } = draft
  const body = {
    ...(id !== '' && { agent_id: id }),
    ...(name !== '' && { name }),
    ...(environment !== '' && { environment }),
    owners: [{ type: 'user' as const, id: owner }],
  }
  const register = useMutation({
    mutationFn: () => remit.registerAgent({ body }),
    onSuccess: async ({ agent_id }) => {
      await refresh('agents')
      await refresh('first-steps')
      if (!isStaying) await navigate({ to: '/agents/$id', params: { id: agent_id } })
      onClose()
    },
  })
  const { text } = fieldsOf({ draft, onDraft: setDraft, error: register.error })
  return (
    <ActionDialog
      title={t.agents.register}
      onClose={onClose}
      request={() => ({ method: 'POST', path: '/v1/identity/agents', body })}
      verb={t.agents.register}
      isDisabled={owner === ''}
      action={register}
    >
      <Input {...text('id', 'agent_id')} label={t.agents.id} mono />
      <Input {...text('name')} label={t.agents.name} />
      <Input
        {...text('owner', 'owners')}
        required
        label={t.agents.owners}
        hint={t.agents.ownerHint}
      />
      <Input {...text('environment')} label={t.agents.environment} />
    </ActionDialog>
  )
}
