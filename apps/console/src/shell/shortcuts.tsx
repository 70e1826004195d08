import { useEffect } from 'react'
import { t } from '../texts.ts'
import { Checkbox } from '../ui/field.tsx'
import { Modal } from '../ui/modal.tsx'
import { setShortcuts, useShortcuts } from '../ui/preferences.ts'
import styles from './shell.module.css'

/** Lists with shortcuts of a single key have this mark. */
const isInList = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('[data-shortcuts]') !== null

interface ShortcutsProps {
  readonly isOpen: boolean
  readonly setOpen: (isOpen: boolean) => void
}

/** The list of shortcuts; `?` opens it where the other shortcuts act, and the menu does anywhere. */
export function ShortcutsDialog({ isOpen, setOpen }: ShortcutsProps) {
  const isOn = useShortcuts()
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isOn && event.key === '?' && isInList(event.target)) setOpen(true)
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [isOn, setOpen])
  return (
    <Modal title={t.shortcuts.title} isOpen={isOpen} onClose={() => setOpen(false)}>
      <h3>{t.shortcuts.anywhere}</h3>
      <Keys rows={[['Ctrl K', t.shortcuts.search]]} />
      <h3>{t.shortcuts.lists}</h3>
      <Keys
        rows={[
          ['j', t.shortcuts.next],
          ['k', t.shortcuts.previous],
          ['a', t.shortcuts.approve],
          ['r', t.shortcuts.reject],
          ['?', t.shortcuts.help],
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
