import { Dialog } from '@base-ui/react/dialog'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { Menu, Search } from 'lucide-react'
import { lazy, Suspense, useEffect, useEffectEvent, useRef, useState } from 'react'
import { followEvents, useEvents } from '../api/events.ts'
import { notifyOf, wantsNotifications } from '../api/notifications.ts'
import { useCan, useSession } from '../api/session.ts'
import { t } from '../texts.ts'
import { Button } from '../ui/button.tsx'
import { Note } from '../ui/states.tsx'
import ui from '../ui/ui.module.css'
import { useNow } from '../ui/values.tsx'
import { setAskAgain } from './ask-again.ts'
import { CurrentPage } from './current-page.tsx'
import { Brand, Sidebar } from './sidebar.tsx'
import type { MenuProps } from './sidebar.tsx'
import styles from './shell.module.css'
import { ShortcutsDialog } from './shortcuts.tsx'

const SearchDialog = lazy(async () => ({ default: (await import('./search.tsx')).SearchDialog }))

/** The frame of a session: navigation, the page, one stream of events. */
export function Shell() {
  useEventStream()
  useQueueFirst()
  useApprovalNotices()
  useEffect(() => setAskAgain(false), [])
  const { pathname } = useLocation()
  const main = useRef<HTMLElement>(null)
  const [isHelpOpen, setHelpOpen] = useState(false)
  const [isSearchOpen, setSearchOpen] = useState(false)
  useSearchKey(() => setSearchOpen(true))
  const menu = { onHelp: () => setHelpOpen(true), onSearch: () => setSearchOpen(true) }
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
      <TopBar key={pathname} {...menu} />
      <Sidebar {...menu} />
      <main id="content" ref={main} tabIndex={-1} className={styles['main']}>
        <LicenseNote />
        <CurrentPage />
      </main>
      <ShortcutsDialog isOpen={isHelpOpen} setOpen={setHelpOpen} />
      {isSearchOpen && (
        <Suspense fallback={null}>
          <SearchDialog onClose={() => setSearchOpen(false)} />
        </Suspense>
      )}
    </div>
  )
}

/** Shown to administrators from 30 days before the expiry. */
function LicenseNote() {
  const { license } = useSession()
  const now = useNow(3_600_000)
  if (!license || Date.parse(license.expires_at) - now > NOTICE_MS) return null
  const dates = [license.expires_at, license.grace_ends_at].map((at) => at.slice(0, 10))
  const [expires = '', graceEnds = ''] = dates
  return now < Date.parse(license.expires_at) ? (
    <Note tone="wait">{t.shell.licenseExpires(expires, graceEnds)}</Note>
  ) : (
    <Note tone="deny">{t.shell.licenseExpired(expires, graceEnds)}</Note>
  )
}

const NOTICE_MS = 30 * 86_400_000

/** Ctrl+K or ⌘K, anywhere: a key with a modifier takes nothing from speech input. */
function useSearchKey(open: () => void): void {
  const onOpen = useEffectEvent(open)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'k' || event.altKey || event.shiftKey) return
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      onOpen()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

function TopBar(menu: MenuProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <div className={styles['topbar']}>
      <Button tone="quiet" icon aria-label={t.shell.menu} onClick={() => setOpen(true)}>
        <Menu aria-hidden />
      </Button>
      <Brand />
      <Button tone="quiet" icon aria-label={t.search.title} onClick={menu.onSearch}>
        <Search aria-hidden />
      </Button>
      <Dialog.Root open={isOpen} onOpenChange={setOpen}>
        <Dialog.Portal>
          <Dialog.Backdrop className={ui['backdrop']} />
          <Dialog.Popup className={styles['drawer']} aria-label={t.shell.menu}>
            <Sidebar {...menu} />
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
    </div>
  )
}

/** Notifications of new requests, for a person who has asked for them and does not look at the list. */
function useApprovalNotices(): void {
  const { pathname } = useLocation()
  const navigate = useNavigate()
  useEvents(({ kind, data }) => {
    const { id } = (data?.['approval'] ?? {}) as { readonly id?: string }
    if (kind !== 'approval.requested' || id === undefined || !wantsNotifications()) return
    if (document.hasFocus() && pathname.startsWith('/approvals')) return
    // Without the request there is nothing to tell; the list shows it.
    notifyOf(id, () => void navigate({ to: '/approvals/$id', params: { id } })).catch(
      () => undefined,
    )
  })
}

/** People who only decide approvals start at those that wait. */
function useQueueFirst(): void {
  const { principal } = useSession()
  const { pathname } = useLocation()
  const navigate = useNavigate()
  const isStart = useRef(pathname === '/')
  const isApprover = principal?.role === 'approver'
  useEffect(() => {
    if (isStart.current && isApprover) void navigate({ to: '/approvals', replace: true })
    isStart.current = false
  }, [isApprover, navigate])
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
