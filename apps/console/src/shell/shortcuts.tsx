import { useEffect } from 'react'
import { t } from '../texts.ts'
import { Checkbox } from '../ui/field.tsx'
import { Modal } from '../ui/modal.tsx'
import { setShortcuts, useShortcuts } from '../ui/preferences.ts'
import styles from './shell.module.css'

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

interface ShortcutsProps {
  readonly isOpen: boolean
  readonly setOpen: (isOpen: boolean) => void
}

/** The list of shortcuts; `?` opens it. */
export function ShortcutsDialog({ isOpen, setOpen }: ShortcutsProps) {
  const isOn = useShortcuts()
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      // The target of an event from a shadow root is its host, the editor.
      const isEditor = event.composedPath().some(isTyping)
      if (isOn && event.key === '?' && !isEditor) setOpen(true)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [isOn, setOpen])
  return (
    <Modal title={t.shortcuts.title} isOpen={isOpen} onClose={() => setOpen(false)}>
      <h3>{t.shortcuts.anywhere}</h3>
      <Keys rows={[['?', t.shortcuts.help]]} />
      <h3>{t.shortcuts.lists}</h3>
      <Keys
        rows={[
          ['j', t.shortcuts.next],
          ['k', t.shortcuts.previous],
          ['a', t.shortcuts.approve],
          ['r', t.shortcuts.reject],
        ]}
      />
      <Checkbox
        label={t.shortcuts.switch}
        hint={t.shortcuts.switchHint}
        isOn={isOn}
        onToggle={setShortcuts}
      />
    </Modal>
  )
}

const Keys = ({ rows }: { rows: readonly (readonly [string, string])[] }) => (
  <dl className={styles['keys']}>
    {rows.map(([key, text]) => (
      <KeyRow key={key} name={key} text={text} />
    ))}
  </dl>
)

const KeyRow = ({ name, text }: { name: string; text: string }) => (
  <>
    <dt>
      <kbd>{name}</kbd>
    </dt>
    <dd>{text}</dd>
  </>
)
