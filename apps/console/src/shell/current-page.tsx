import { Link, Navigate, Outlet, useLocation } from '@tanstack/react-router'
import { useCan } from '../api/session.ts'
import { t } from '../texts.ts'
import { Page } from '../ui/layout.tsx'
import ui from '../ui/ui.module.css'
import { isFormOfOthers, isShown, pageAt, PAGES } from './pages.ts'

/** The page of the address, if the edition and the role include it. `/console` opens the first that they do. */
export function CurrentPage() {
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
