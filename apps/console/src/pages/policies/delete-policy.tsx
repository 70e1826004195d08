import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Modal } from '../../ui/modal.tsx'
import { Failure } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'

export function DeletePolicy({ id }: { id: string }) {
  const [isOpen, setOpen] = useState(false)
  const can = useCan()
  const client = useQueryClient()
  const navigate = useNavigate()
  const remove = useMutation({
    mutationFn: () => remit.deletePolicy({ params: { policyID: id } }),
    onSuccess: async () => {
      announce(t.policies.deleted)
      await client.invalidateQueries({ queryKey: ['policies'] })
      await navigate({ to: '/policies' })
    },
  })
  if (!can('DELETE /v1/policies/{policyID}')) return null
  return (
    <>
      <Button tone="danger" onClick={() => setOpen(true)}>
        {t.policies.delete}
      </Button>
      <Modal
        isOpen={isOpen}
        title={t.policies.deleteTitle}
        onClose={() => setOpen(false)}
        footer={
          <>
            <Button onClick={() => setOpen(false)}>{t.common.cancel}</Button>
            <Button tone="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
              {t.policies.delete}
            </Button>
          </>
        }
      >
        <p>{t.policies.deleteText}</p>
        {remove.error && <Failure error={remove.error} />}
      </Modal>
    </>
  )
}
