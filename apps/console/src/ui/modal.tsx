import { Dialog } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'
import { classes } from './button.tsx'
import styles from './ui.module.css'

interface ModalProps {
  readonly title: ReactNode
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly wide?: boolean
  /** Neither a click outside nor Escape closes it: its content is shown once. */
  readonly isSticky?: boolean
  readonly footer?: ReactNode
  readonly children: ReactNode
}

export function Modal(props: ModalProps) {
  const { title, isOpen, onClose, wide = false, isSticky = false, footer, children } = props
  return (
    <Dialog.Root
      open={isOpen}
      disablePointerDismissal={isSticky}
      onOpenChange={(open, { reason }) => {
        if (!open && !(isSticky && reason === 'escape-key')) onClose()
      }}
    >
      <Dialog.Portal>
        <Dialog.Backdrop className={styles['backdrop']} />
        <Dialog.Popup className={classes(styles['dialog'], wide && styles['wide'])}>
          <header className={styles['dialogHead']}>
            <Dialog.Title>{title}</Dialog.Title>
          </header>
          <div className={styles['dialogBody']}>{children}</div>
          {footer && <footer className={styles['dialogFoot']}>{footer}</footer>}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
