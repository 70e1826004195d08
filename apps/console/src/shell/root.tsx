import { Dialog } from '@base-ui/react/dialog'
import { RemitError } from '@remit/contract/client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, Navigate, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { BookOpen, Keyboard, LogOut, Menu, Search } from 'lucide-react'
import { Fragment, Suspense, lazy, useEffect, useEffectEvent, useRef, useState } from 'react'
import { isServerThere, messageOf, remit } from '../api/client.ts'
import { followEvents, useEvents } from '../api/events.ts'
import { notifyOf, wantsNotifications } from '../api/notifications.ts'
import { forgetAll, refresh } from '../api/query-client.ts'
import { useCan, useSession } from '../api/session.ts'
import { keptText } from '../api/storage.ts'
import icon from '../icon.svg'
import { pendingQuery } from '../pages/approvals/queries.ts'
import { t } from '../texts.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Checkbox, Input } from '../ui/field.tsx'
import { Page } from '../ui/layout.tsx'
import { Modal } from '../ui/modal.tsx'
import { setShortcuts, useShortcuts } from '../ui/preferences.ts'
import { Code, Failure, Note, Skeleton } from '../ui/states.tsx'
import ui from '../ui/ui.module.css'
import { Literal, useNow } from '../ui/values.tsx'
import { PAGES, isFormOfOthers, isShown, pageAt } from './pages.ts'
import styles from './shell.module.css'

export function Root() {
  return (
    <Suspense fallback={<Skeleton />}>
      <SessionGate />
    </Suspense>
  )
}

function SessionGate() {
  const { principal } = useSession()
  useTitle(principal !== null)
  return principal ? <Shell /> : <Login />
}

function useTitle(isSignedIn: boolean): void {
  const { pathname } = useLocation()
  useEffect(() => {
    const name = isSignedIn ? pageAt(pathname)?.label : t.login.signIn
    document.title = name ? `${name} · ${t.product}` : t.product
  }, [pathname, isSignedIn])
}

export const Broken = ({ error, reset }: { error: unknown; reset: () => void }) => (
  <Page title={t.common.failed}>
    <Failure error={error} onRetry={() => void tryAgain(reset)} />
  </Page>
)

/** Modules that failed to load are loaded again with the whole page only. */
async function tryAgain(reset: () => void): Promise<void> {
  if (await isServerThere()) location.reload()
  else reset()
}

/** Shown in the place of any page without a session; the address stays. */
function Login() {
  const { login } = useSession()
  const query = new URLSearchParams({
    next: location.pathname + location.search,
    ...(askAgain.read() !== null && { prompt: 'login' }),
  })
  return (
    <main className={styles['signIn']}>
      <div className={styles['signInCard']}>
        <img src={icon} alt="" />
        <h1>{t.login.title}</h1>
        {login.oidc && (
          <a
            data-wide
            className={buttonClass('primary')}
            href={`/console/login?${query.toString()}`}
          >
            {t.login.with(login.oidc.label)}
          </a>
        )}
        {login.organizations && (
          <OrganizationForm given={query} isOnly={!login.oidc && !login.key} />
        )}
        {(login.oidc ?? login.organizations) && login.key && (
          <div className={styles['or']}>{t.login.or}</div>
        )}
        {login.key && <KeyForm />}
        {!login.key && !login.oidc && !login.organizations && (
          <Note tone="wait">{t.login.noMethod}</Note>
        )}
      </div>
    </main>
  )
}

function OrganizationForm({ given, isOnly }: { given: URLSearchParams; isOnly: boolean }) {
  const [organization, setOrganization] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const query = new URLSearchParams([...given, ['organization', organization.trim()]])
        // `form-action` of the policy also holds for the redirect to the provider.
        location.assign(`/console/login?${query.toString()}`)
      }}
    >
      <Input
        label={t.login.organization}
        hint={t.login.organizationHint}
        required
        autoFocus={isOnly}
        value={organization}
        onValue={setOrganization}
      />
      <Button data-wide tone={isOnly ? 'primary' : undefined} type="submit">
        {t.login.continue}
      </Button>
    </form>
  )
}

function KeyForm() {
  const [key, setKey] = useState('')
  const signIn = useMutation({
    mutationFn: () => remit.startSession({ body: { key: key.trim() } }),
    onSuccess: async () => {
      setKey('')
      forgetAll()
      await refresh('session')
    },
  })
  const { error } = signIn
  const isRefused = error instanceof RemitError && error.status === 401
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          signIn.mutate()
        }}
      >
        <Input
          label={t.login.key}
          type="password"
          mono
          autoFocus
          required
          placeholder={t.login.keyPlaceholder}
          value={key}
          onValue={setKey}
          hint={t.login.keyHint}
          fault={error ? (isRefused ? t.login.refused : messageOf(error)) : undefined}
        />
        <Button data-wide tone="primary" type="submit" disabled={signIn.isPending}>
          {t.login.signIn}
        </Button>
      </form>
      <p>{t.login.findKey}</p>
      <Code label={t.common.command}>remit key create --role admin</Code>
    </>
  )
}

const SearchDialog = lazy(async () => ({ default: (await import('./search.tsx')).SearchDialog }))

/** The frame of a session: navigation, the page, one stream of events. */
function Shell() {
  useEventStream()
  useQueueFirst()
  useApprovalNotices()
  useEffect(() => askAgain.write(null), [])
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

/** The page of the address, if the edition and the role include it. `/console` opens the first that they do. */
function CurrentPage() {
  const can = useCan()
  const { pathname } = useLocation()
  const page = pageAt(pathname)
  if (isFormOfOthers(pathname, can)) return <NotFound />
  if (!page || isShown(page, can)) return <Outlet />
  const first = PAGES.find((one) => isShown(one, can))
  return page.to === '/' && first ? <Navigate to={first.to} replace /> : <NotFound />
}

export const NotFound = () => (
  <Page title={t.common.notFound}>
    <p className={ui['muted']}>{t.common.notFoundText}</p>
    <p>
      <Link to="/">{t.common.toStart}</Link>
    </p>
  </Page>
)

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

/** Lists with shortcuts of a single key have this mark. */
const isInList = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('[data-shortcuts]') !== null

interface ShortcutsProps {
  readonly isOpen: boolean
  readonly setOpen: (isOpen: boolean) => void
}

/** The list of shortcuts; `?` opens it where the other shortcuts act, and the menu does anywhere. */
function ShortcutsDialog({ isOpen, setOpen }: ShortcutsProps) {
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
      <Fragment key={key}>
        <dt>
          <kbd>{key}</kbd>
        </dt>
        <dd>{text}</dd>
      </Fragment>
    ))}
  </dl>
)

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent)

function Brand() {
  const { organization, evaluation } = useSession()
  return (
    <div className={styles['brand']}>
      <img src={icon} alt="" />
      <div>
        <strong>{t.product}</strong>
        <span className={styles['org']} title={evaluation ? t.shell.evaluationText : undefined}>
          <Literal>{organization?.name ?? ''}</Literal>
          {organization && ` · ${evaluation ? t.shell.evaluation : organization.plan}`}
        </span>
      </div>
    </div>
  )
}

interface MenuProps {
  readonly onHelp: () => void
  readonly onSearch: () => void
}

function Sidebar({ onHelp, onSearch }: MenuProps) {
  const can = useCan()
  const { principal } = useSession()
  return (
    <div className={styles['side']}>
      <Brand />
      <button type="button" className={styles['search']} onClick={onSearch}>
        <Search aria-hidden />
        {t.search.title}
        <kbd>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <nav className={styles['links']} aria-label={t.shell.navigation}>
        {PAGES.filter((page) => isShown(page, can)).map(({ to, label, icon: Icon }) => (
          <Link key={to} to={to} activeOptions={{ exact: to === '/', includeSearch: false }}>
            <Icon aria-hidden />
            {label}
            {to === '/approvals' && <PendingCount />}
          </Link>
        ))}
      </nav>
      <div className={styles['foot']}>
        <a href="/docs" target="_blank" rel="noreferrer">
          <BookOpen aria-hidden />
          {t.shell.docs}
        </a>
        <button type="button" onClick={onHelp}>
          <Keyboard aria-hidden />
          {t.shell.shortcuts}
        </button>
        <SignOut />
        {principal && (
          <div className={styles['who']} role="group" aria-label={t.settings.about.signedInAs}>
            <Literal as="span">{principal.email ?? principal.name ?? principal.id}</Literal>
            <span>{principal.role}</span>
          </div>
        )}
      </div>
    </div>
  )
}

function PendingCount() {
  const { data, refetch } = useQuery(pendingQuery)
  useEvents(({ kind }) => {
    if (kind.startsWith('approval.')) void refetch()
  })
  const n = data?.data.length ?? 0
  if (n === 0) return null
  const more = data?.next_cursor === null ? '' : '+'
  return (
    <span className={styles['count']} aria-label={t.shell.pending(n)}>
      {n}
      {more}
    </span>
  )
}

function SignOut() {
  const leave = useMutation({
    mutationFn: () => remit.endSession.withResponse(),
    onSuccess: ({ headers }) => {
      // The address that signs out at the identity provider, where there is one.
      const provider = headers.get('location')
      if (provider === null) askAgain.write('on')
      else location.assign(provider)
    },
    onSettled: async () => {
      await refresh('session')
      forgetAll()
    },
  })
  return (
    <button type="button" onClick={() => leave.mutate()}>
      <LogOut aria-hidden />
      {t.shell.signOut}
    </button>
  )
}

/**
 * Remembers until the next sign-in that the identity provider must ask who it is: after a sign-out that the
 * provider does not know of, it would sign in the same person without a question. Without storage, a person
 * can still ask for it: /console/login?prompt=login.
 */
const askAgain = keptText('remit.console.ask-again', 'sessionStorage')
