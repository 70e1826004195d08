import {
  Activity,
  Bot,
  CircleCheckBig,
  FileText,
  FlaskConical,
  ScrollText,
  Settings,
  ShieldCheck,
  Wallet,
  Wrench,
} from 'lucide-react'
import type { LucideIcon } from 'lucide-react'
import { t } from '../texts.ts'

export interface PageLink {
  readonly to: string
  readonly label: string
  readonly icon: LucideIcon
  /** One of these endpoints makes the page useful. */
  readonly needs: readonly string[]
}

export const PAGES: readonly PageLink[] = [
  { to: '/', label: t.nav.live, icon: Activity, needs: ['GET /v1/ledger'] },
  { to: '/approvals', label: t.nav.approvals, icon: CircleCheckBig, needs: ['GET /v1/approvals'] },
  { to: '/policies', label: t.nav.policies, icon: ShieldCheck, needs: ['GET /v1/policies'] },
  { to: '/ledger', label: t.nav.ledger, icon: ScrollText, needs: ['GET /v1/ledger'] },
  { to: '/agents', label: t.nav.agents, icon: Bot, needs: ['GET /v1/identity/agents'] },
  { to: '/mcp-tools', label: t.nav.mcpTools, icon: Wrench, needs: ['GET /v1/mcp/tools'] },
  { to: '/spend', label: t.nav.spend, icon: Wallet, needs: ['GET /v1/spend-limits'] },
  { to: '/reports', label: t.nav.reports, icon: FileText, needs: ['GET /v1/compliance/reports'] },
  {
    to: '/playground',
    label: t.nav.playground,
    icon: FlaskConical,
    needs: ['POST /v1/guard', 'POST /v1/scorers'],
  },
  {
    to: '/settings',
    label: t.nav.settings,
    icon: Settings,
    needs: ['GET /v1/organization', 'GET /v1/keys', 'GET /v1/people', 'GET /v1/webhooks'],
  },
]

/** Pages of a new record, each with the endpoint that stores it. */
const FORMS: Readonly<Record<string, string>> = {
  '/policies/new': 'POST /v1/policies',
  '/policies/approval-rules/new': 'POST /v1/approval-rules/{id}',
  '/policies/sets/new': 'POST /v1/policy-sets/{id}/apply',
  '/spend/budgets/new': 'PUT /v1/budgets/{id}',
  '/agents/trust/new': 'POST /v1/identity/trust',
  '/agents/issuers/new': 'POST /v1/identity/idp',
}

/** Returns the page that a path is of, or below. */
export const pageAt = (pathname: string): PageLink | undefined =>
  PAGES.findLast(({ to }) => pathname === to || pathname.startsWith(`${to}/`))

export const isShown = ({ needs }: PageLink, can: (endpoint: string) => boolean): boolean =>
  needs.some(can)

/** Returns true for the path of a form that the role cannot save. */
export const isFormOfOthers = (pathname: string, can: (endpoint: string) => boolean): boolean => {
  const needed = FORMS[pathname]
  return needed !== undefined && !can(needed)
}
