import { QueryClientProvider } from '@tanstack/react-query'
import {
  RouterProvider,
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { CSPProvider } from '@base-ui/react/csp-provider'
import { isServerThere } from './api/client.ts'
import { queryClient } from './api/query-client.ts'
import { readTexts } from './format/search.ts'
import './style/base.css'
import { Toasts } from './ui/toasts.tsx'
import { readSearch as readApprovals } from './pages/approvals/queries.ts'
import { readLive } from './pages/live/spans.ts'
import { readFilters } from './pages/ledger/filters.ts'
import { Broken, NotFound, Root } from './shell/root.tsx'
import { t } from './texts.ts'
import { Skeleton } from './ui/states.tsx'

const rootRoute = createRootRoute({
  component: Root,
  notFoundComponent: NotFound,
  errorComponent: Broken,
})

/**
 * A page that loads on its first visit. Where that fails, the router loads the address anew, as a newer build
 * needs it. Without a server, that would end on an error page of the browser.
 */
function page<Exports extends Record<string, unknown>, Name extends keyof Exports & string>(
  load: () => Promise<Exports>,
  name: Name,
) {
  return lazyRouteComponent(
    () =>
      load().catch(async (error: unknown) => {
        if (await isServerThere()) throw error
        throw new Error(t.common.away)
      }),
    name,
  )
}

const ledger = createRoute({
  getParentRoute: () => rootRoute,
  path: '/ledger',
  validateSearch: readFilters,
  component: page(() => import('./pages/ledger/explorer.tsx'), 'Explorer'),
})
const entry = createRoute({
  getParentRoute: () => ledger,
  path: '$seq',
  component: page(() => import('./pages/ledger/entry.tsx'), 'EntryPanel'),
})
const decision = createRoute({
  getParentRoute: () => rootRoute,
  path: '/decisions/$id',
  component: page(() => import('./pages/decisions/decision.tsx'), 'DecisionPage'),
})
const approvals = createRoute({
  getParentRoute: () => rootRoute,
  path: '/approvals',
  validateSearch: readApprovals,
  component: page(() => import('./pages/approvals/approvals.tsx'), 'Approvals'),
})
const approval = createRoute({
  getParentRoute: () => rootRoute,
  path: '/approvals/$id',
  validateSearch: readApprovals,
  component: page(() => import('./pages/approvals/approvals.tsx'), 'Approvals'),
})
const policies = createRoute({
  getParentRoute: () => rootRoute,
  path: '/policies',
  validateSearch: readTexts('tab'),
  component: page(() => import('./pages/policies/policies.tsx'), 'Policies'),
})
const policy = createRoute({
  getParentRoute: () => rootRoute,
  path: '/policies/$id',
  validateSearch: readTexts('like'),
  component: page(() => import('./pages/policies/editor.tsx'), 'PolicyEditor'),
})
const approvalRule = createRoute({
  getParentRoute: () => rootRoute,
  path: '/policies/approval-rules/$id',
  validateSearch: readTexts('except'),
  component: page(() => import('./pages/approval-rules/editor.tsx'), 'ApprovalRuleEditor'),
})
const template = createRoute({
  getParentRoute: () => rootRoute,
  path: '/policies/sets/new',
  validateSearch: readTexts('pack'),
  component: page(() => import('./pages/policy-sets/template.tsx'), 'NewFromTemplate'),
})
const live = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  validateSearch: readLive,
  component: page(() => import('./pages/live/live.tsx'), 'Live'),
})
const agents = createRoute({
  getParentRoute: () => rootRoute,
  path: '/agents',
  validateSearch: readTexts('tab'),
  component: page(() => import('./pages/agents/agents.tsx'), 'Agents'),
})
const agent = createRoute({
  getParentRoute: () => rootRoute,
  path: '/agents/$id',
  component: page(() => import('./pages/agents/agent.tsx'), 'AgentPage'),
})
const trust = createRoute({
  getParentRoute: () => rootRoute,
  path: '/agents/trust/$id',
  component: page(() => import('./pages/trust/editor.tsx'), 'TrustEditor'),
})
const issuer = createRoute({
  getParentRoute: () => rootRoute,
  path: '/agents/issuers/$id',
  validateSearch: readTexts('copy'),
  component: page(() => import('./pages/issuers/editor.tsx'), 'IssuerPage'),
})
const mcpTools = createRoute({
  getParentRoute: () => rootRoute,
  path: '/mcp-tools',
  validateSearch: readTexts('tab'),
  component: page(() => import('./pages/mcp-tools/list.tsx'), 'McpTools'),
})
const mcpTool = createRoute({
  getParentRoute: () => rootRoute,
  path: '/mcp-tools/$id',
  component: page(() => import('./pages/mcp-tools/tool.tsx'), 'McpToolPage'),
})
const readSpend = readTexts('agent', 'tab')
const spend = createRoute({
  getParentRoute: () => rootRoute,
  path: '/spend',
  // An empty text would stay in the search unless it is replaced.
  validateSearch: (search: Record<string, unknown>) => {
    const { agent: ofAgent, tab } = readSpend(search)
    return { agent: ofAgent, ...(tab !== undefined && { tab }) }
  },
  component: page(() => import('./pages/spend/spend.tsx'), 'Spend'),
})
const budget = createRoute({
  getParentRoute: () => rootRoute,
  path: '/spend/budgets/$id',
  component: page(() => import('./pages/spend/budget.tsx'), 'BudgetPage'),
})
const reports = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reports',
  component: page(() => import('./pages/reports/reports.tsx'), 'Reports'),
})
const report = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reports/$id',
  component: page(() => import('./pages/reports/report.tsx'), 'ReportPage'),
})
const playground = createRoute({
  getParentRoute: () => rootRoute,
  path: '/playground',
  validateSearch: readTexts('tab'),
  component: page(() => import('./pages/playground/playground.tsx'), 'Playground'),
})
const settings = createRoute({
  getParentRoute: () => rootRoute,
  path: '/settings',
  validateSearch: readTexts('tab'),
  component: page(() => import('./pages/settings/settings.tsx'), 'Settings'),
})

const router = createRouter({
  routeTree: rootRoute.addChildren([
    live,
    approvals,
    approval,
    policies,
    policy,
    approvalRule,
    template,
    ledger.addChildren([entry]),
    decision,
    agents,
    agent,
    trust,
    issuer,
    mcpTools,
    mcpTool,
    spend,
    budget,
    reports,
    report,
    playground,
    settings,
  ]),
  basepath: '/console',
  defaultPreload: 'intent',
  defaultPendingComponent: Skeleton,
  defaultErrorComponent: Broken,
  defaultStructuralSharing: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <CSPProvider disableStyleElements>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
          <Toasts />
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  )
