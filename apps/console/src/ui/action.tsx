import { useMutation } from '@tanstack/react-query'
import { RemitError } from '@remit/contract/client'
import { lazy, Suspense, useState } from 'react'
import type { ReactNode } from 'react'
import type { Request } from '../format/curl.ts'
import { t } from '../texts.ts'
import { Button } from './button.tsx'
import { Row, Stack } from './layout.tsx'
import { Modal } from './modal.tsx'
import { CurlButton, Failure } from './states.tsx'
import { announce } from './toasts.tsx'

const Propose = lazy(async () => ({ default: (await import('./propose.tsx')).Propose }))

interface Action {
  readonly isPending: boolean
  readonly error: Error | null
  readonly mutate: () => void
}

interface ActionFormProps {
  /** The request of the action. */
  readonly request: () => Request
  /** The name of the button that acts; null where the reader may not. */
  readonly verb: string | null
  readonly isDisabled?: boolean
  readonly action: Action
  /** The fields can be read only: nothing acts. */
  readonly isReadOnly?: boolean
  /** Leaves the check of its fields to the server. */
  readonly noValidate?: boolean
  /** Buttons beside the one that acts. */
  readonly more?: ReactNode
  readonly children: ReactNode
}

/** A form with one action: its fields, the error of the server, and its button. */
export function ActionForm(props: ActionFormProps) {
  const { request, verb, isDisabled = false, action, isReadOnly = false, noValidate, more } = props
  const mayAct = verb !== null && !isReadOnly && !isDisabled && !action.isPending
  return (
    <form
      noValidate={noValidate}
      onSubmit={(event) => {
        event.preventDefault()
        // A form without the button that acts is sent by Enter too.
        if (mayAct) action.mutate()
      }}
    >
      <Stack>
        {props.children}
        <ActionError error={action.error} request={request} />
        {!isReadOnly && (
          <Row>
            {verb !== null && (
              <Button type="submit" tone="primary" disabled={!mayAct}>
                {verb}
              </Button>
            )}
            <CurlButton request={request} />
            {more}
          </Row>
        )}
      </Stack>
    </form>
  )
}

/** The error of an action; a change of rules that needs a second person can be proposed. */
function ActionError({ error, request }: { error: Error | null; request: () => Request }) {
  if (error === null) return null
  return (
    <>
      <Failure error={error} />
      {error instanceof RemitError && error.code === 'change_requires_approval' && (
        <Suspense>
          <Propose request={request()} />
        </Suspense>
      )}
    </>
  )
}

interface ActionDialogProps {
  readonly title: string
  readonly isOpen?: boolean
  readonly onClose: () => void
  /** The request of the action. */
  readonly request: () => Request
  /** The name of the button that acts. */
  readonly verb: string
  readonly tone?: 'danger' | 'primary'
  readonly isDisabled?: boolean
  readonly action: Action
  /** The name of the button that closes; "Cancel" unless given. */
  readonly close?: string
  /** Buttons beside those of each dialog. */
  readonly more?: ReactNode
  readonly children: ReactNode
}

/** A dialog with one action: its fields, the error of the server, and its button. */
export function ActionDialog(props: ActionDialogProps) {
  const { title, isOpen = true, onClose, request, verb, tone = 'primary', action } = props
  return (
    <Modal
      isOpen={isOpen}
      title={title}
      onClose={onClose}
      footer={
        <>
          <CurlButton request={request} />
          {props.more}
          <Button onClick={onClose}>{props.close ?? t.common.cancel}</Button>
          <Button
            tone={tone}
            disabled={action.isPending || props.isDisabled}
            onClick={() => action.mutate()}
          >
            {verb}
          </Button>
        </>
      }
    >
      {props.children}
      <ActionError error={action.error} request={request} />
    </Modal>
  )
}

interface ConfirmDeleteProps {
  readonly title: string
  readonly text?: string
  /** `danger` unless given. */
  readonly tone?: 'danger' | 'primary' | undefined
  /** The name of the button; "Delete" unless given. */
  readonly verb?: string
  /** Announcement after the deletion; "Deleted" unless given. */
  readonly done?: string
  /** The accessible name of the button in a list. */
  readonly label?: string
  readonly request: () => Request
  readonly onDelete: () => Promise<unknown>
  readonly onDeleted: () => Promise<unknown> | void
  readonly children?: ReactNode | ((error: Error | null) => ReactNode)
}

/** A button that deletes after a confirmation. */
export function ConfirmDelete(props: ConfirmDeleteProps) {
  const { title, text, verb = t.policies.delete, done = t.policies.deleted } = props
  const { label, request, onDelete, onDeleted, children } = props
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
      <ActionDialog
        isOpen={isOpen}
        title={title}
        onClose={() => setOpen(false)}
        request={request}
        verb={verb}
        tone={tone ?? 'primary'}
        action={remove}
      >
        {text !== undefined && <p>{text}</p>}
        {typeof children === 'function' ? children(remove.error) : children}
      </ActionDialog>
    </>
  )
}
