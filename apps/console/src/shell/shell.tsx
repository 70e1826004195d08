import { Dialog } from '@base-ui/react/dialog'
import { useLocation } from '@tanstack/react-router'
import { Menu } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { followEvents } from '../api/events.ts'
import { useCan, useSession } from '../api/session.ts'
import { t } from '../texts.ts'
import { Button } from '../ui/button.tsx'
import ui from '../ui/ui.module.css'
import { setAskAgain } from './ask-again.ts'
import { CurrentPage } from './current-page.tsx'
import { Brand, Sidebar } from './sidebar.tsx'
import styles from './shell.module.css'
import { ShortcutsDialog } from './shortcuts.tsx'

/** The frame of a session: navigation, the page, one stream of events. */
export function Shell() {
  useEventStream()
  useEffect(() => setAskAgain(false), [])
  const { pathname } = useLocation()
  const main = useRef<HTMLElement>(null)
  const [isHelpOpen, setHelpOpen] = useState(false)
  return (
    <div className={styles['frame']}>
      <a
        href="#content"
        className={styles['skip']}
        onClick={(event) => {
          event.preventDefault()
          main.current?.focus()
        }}
      >
        {t.shell.skip}
      </a>
      <TopBar key={pathname} onHelp={() => setHelpOpen(true)} />
      <Sidebar onHelp={() => setHelpOpen(true)} />
      <main id="content" ref={main} tabIndex={-1} className={styles['main']}>
        <CurrentPage />
      </main>
      <ShortcutsDialog isOpen={isHelpOpen} setOpen={setHelpOpen} />
    </div>
  )
}

function TopBar({ onHelp }: { onHelp: () => void }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <div className={styles['topbar']}>
      <Button tone="quiet" icon aria-label={t.shell.menu} onClick={() => setOpen(true)}>
        <Menu aria-hidden />
      </Button>
      <Brand />
      <Dialog.Root open={isOpen} onOpenChange={setOpen}>
        <Dialog.Portal>
          <Dialog.Backdrop className={ui['backdrop']} />
          <Dialog.Popup className={styles['drawer']} aria-label={t.shell.menu}>
            <Sidebar onHelp={onHelp} />
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
    </div>
  )
}

function useEventStream(): void {
  const can = useCan()
  const { principal } = useSession()
  const feed = can('GET /v1/ledger/events')
    ? 'ledger'
    : can('GET /v1/approvals/events')
      ? 'approvals'
      : null
  const id = principal?.id
  useEffect(() => (feed && id !== undefined ? followEvents(feed) : undefined), [feed, id])
}
