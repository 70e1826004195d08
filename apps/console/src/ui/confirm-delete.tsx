import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { ReactNode } from 'react'
import type { Request } from '../format/curl.ts'
import { t } from '../texts.ts'
import { Button } from './button.tsx'
import { Modal } from './modal.tsx'
import { CurlButton, Failure } from './states.tsx'
import { announce } from './toasts.tsx'

interface ConfirmDeleteProps {
  readonly title: string
  readonly text: string
  /** `danger` unless given. */
  readonly tone?: 'danger' | undefined
  /** The name of the button; "Delete" unless given. */
  readonly verb?: string
  /** Announcement after the deletion; "Deleted" unless given. */
  readonly done?: string
  /** The accessible name of the button in a list. */
  readonly label?: string
  readonly request: () => Request
  readonly onDelete: () => Promise<unknown>
  readonly onDeleted: () => Promise<unknown> | void
  readonly children?: ReactNode
}

/** A button that deletes after a confirmation which says what follows. */
export function ConfirmDelete(props: ConfirmDeleteProps) {
  const { title, text, verb = t.policies.delete, done = t.policies.deleted } = props
  const { label, request, onDelete, onDeleted } = props
  const tone = 'tone' in props ? props.tone : 'danger'
  const [isOpen, setOpen] = useState(false)
  const remove = useMutation({
    mutationFn: onDelete,
    onSuccess: async () => {
      announce(done)
      setOpen(false)
      await onDeleted()
    },
  })
  return (
    <>
      <Button tone={tone} aria-label={label} onClick={() => setOpen(true)}>
        {verb}
      </Button>
      <Modal
        isOpen={isOpen}
        title={title}
        onClose={() => setOpen(false)}
        footer={
          <>
            <CurlButton request={request} />
            <Button onClick={() => setOpen(false)}>{t.common.cancel}</Button>
            <Button
              tone={tone ?? 'primary'}
              disabled={remove.isPending}
              onClick={() => remove.mutate()}
            >
              {verb}
            </Button>
          </>
        }
      >
        <p>{text}</p>
        {props.children}
        {remove.error && <Failure error={remove.error} />}
      </Modal>
    </>
  )
}
