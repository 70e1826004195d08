import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { BookOpen, Keyboard, LogOut, Search } from 'lucide-react'
import { useEvents } from '../api/events.ts'
import { sessionQuery, signOut, useCan, useSession } from '../api/session.ts'
import icon from '../icon.svg'
import { pendingQuery } from '../pages/approvals/queries.ts'
import { t } from '../texts.ts'
import { Literal } from '../ui/values.tsx'
import { setAskAgain } from './ask-again.ts'
import { isShown, PAGES } from './pages.ts'
import styles from './shell.module.css'

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent)

export function Brand() {
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

export interface MenuProps {
  readonly onHelp: () => void
  readonly onSearch: () => void
}

export function Sidebar({ onHelp, onSearch }: MenuProps) {
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
            <span>
              <Literal>{principal.email ?? principal.name ?? principal.id}</Literal>
            </span>
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
  const client = useQueryClient()
  const leave = useMutation({
    mutationFn: signOut,
    onSuccess: (provider) => {
      if (provider === null) setAskAgain(true)
      else location.assign(provider)
    },
    onSettled: async () => {
      await client.invalidateQueries({ queryKey: sessionQuery.queryKey })
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
    },
  })
  return (
    <button type="button" onClick={() => leave.mutate()}>
      <LogOut aria-hidden />
      {t.shell.signOut}
    </button>
  )
}
