import { t } from '../texts.ts'
import { Button } from './button.tsx'
import { Modal } from './modal.tsx'
import { Code } from './states.tsx'

interface SecretDialogProps {
  readonly title: string
  /** Null closes it. */
  readonly secret: string | null
  readonly onDone: () => void
}

/** A secret that is shown once: no stray click closes it. */
export function SecretDialog({ title, secret, onDone }: SecretDialogProps) {
  return (
    <Modal
      isSticky
      isOpen={secret !== null}
      title={title}
      onClose={onDone}
      footer={
        <Button tone="primary" onClick={onDone}>
          {t.agents.secretDone}
        </Button>
      }
    >
      <p>{t.agents.secretText}</p>
      <Code label={title}>{secret ?? ''}</Code>
    </Modal>
  )
}
