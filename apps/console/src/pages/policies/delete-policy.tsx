import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { ConfirmDelete } from '../../ui/confirm-delete.tsx'
import { Input } from '../../ui/field.tsx'
import { pathOf } from './queries.ts'

export function DeletePolicy({ id }: { id: string }) {
  const [reason, setReason] = useState('')
  const can = useCan()
  const client = useQueryClient()
  const navigate = useNavigate()
  if (!can('DELETE /v1/policies/{policyID}')) return null
  const query = reason.trim() === '' ? {} : { change_reason: reason.trim() }
  return (
    <ConfirmDelete
      title={t.policies.deleteTitle}
      text={t.policies.deleteText}
      request={() => ({ method: 'DELETE', path: `${pathOf(id)}${searchOf(query)}` })}
      onDelete={() => remit.deletePolicy({ params: { policyID: id }, query })}
      onDeleted={async () => {
        await navigate({ to: '/policies' })
        await client.invalidateQueries({ queryKey: ['policies'] })
      }}
    >
      <Input
        label={t.policies.changeReason}
        hint={t.policies.changeReasonHint}
        maxLength={500}
        value={reason}
        onValue={setReason}
      />
    </ConfirmDelete>
  )
}

const searchOf = (query: Readonly<Record<string, string>>): string => {
  const search = new URLSearchParams(query)
  return search.size === 0 ? '' : `?${search}`
}
