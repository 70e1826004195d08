import type { ReactNode } from 'react'
import type { Request } from '../../format/curl.ts'
import { t } from '../../texts.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Row, Stack } from '../../ui/layout.tsx'
import { CurlButton, Failure } from '../../ui/states.tsx'

interface DraftFormProps {
  readonly title?: string
  readonly className?: string | undefined
  /** Buttons beside the title. */
  readonly actions?: ReactNode
  readonly children: ReactNode
  /** False: the draft can be read only. */
  readonly mayChange: boolean
  readonly canSave: boolean
  /** The text of the button that saves. */
  readonly save: string
  readonly onSave: () => void
  /** Why it was not saved, where the fields do not show it. */
  readonly error: Error | null
  /** The request that saves. */
  readonly request: () => Request
}

/** The frame of the form of a rule: its fields, what the server said, and the button that saves. */
export function DraftForm(props: DraftFormProps) {
  const { title = t.policies.form, className, actions, children } = props
  const { mayChange, canSave, save, onSave, error, request } = props
  return (
    <Card className={className} title={title} actions={actions}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          onSave()
        }}
      >
        <Stack>
          {children}
          {error && <Failure error={error} />}
          {mayChange && (
            <Row>
              <Button type="submit" tone="primary" disabled={!canSave}>
                {save}
              </Button>
              <CurlButton request={request} />
            </Row>
          )}
        </Stack>
      </form>
    </Card>
  )
}
