import { Suspense, useEffect } from 'react'
import { useLocation } from '@tanstack/react-router'
import { useSession } from '../api/session.ts'
import { t } from '../texts.ts'
import { Page } from '../ui/layout.tsx'
import { Failure, Skeleton } from '../ui/states.tsx'
import { Login } from './login.tsx'
import { pageAt } from './pages.ts'
import { Shell } from './shell.tsx'

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
    <Failure error={error} onRetry={reset} />
  </Page>
)
