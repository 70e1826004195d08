import { Toast } from '@base-ui/react/toast'
import { X } from 'lucide-react'
import { t } from '../texts.ts'
import { buttonClass } from './button.tsx'
import styles from './ui.module.css'

const manager = Toast.createToastManager()

/** Tells what happened, for a few seconds. */
export function announce(title: string, description?: string): void {
  manager.add({ title, ...(description !== undefined && { description }), timeout: 5_000 })
}

export function Toasts() {
  return (
    <Toast.Provider toastManager={manager}>
      <Toast.Portal>
        <Toast.Viewport className={styles['toasts']}>
          <Messages />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function Messages() {
  const { toasts } = Toast.useToastManager()
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className={styles['toast']}>
      <div>
        <Toast.Title render={<strong />} />
        <Toast.Description />
      </div>
      <Toast.Close className={buttonClass('quiet', true)} aria-label={t.common.dismiss}>
        <X aria-hidden />
      </Toast.Close>
    </Toast.Root>
  ))
}
