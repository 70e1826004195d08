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
import { NotFound } from './shell/current-page.tsx'
import { Broken, Root } from './shell/root.tsx'
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

const ledgerRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/ledger',
  validateSearch: readFilters,
  component: page(() => import('./pages/ledger/explorer.tsx'), 'Explorer'),
})

const router = createRouter({
  routeTree: rootRoute.addChildren([
    createRoute({
      getParentRoute: () => rootRoute,
      path: '/',
      validateSearch: readLive,
      component: page(() => import('./pages/live/live.tsx'), 'Live'),
    }),
    createRoute({
      getParentRoute: () => rootRoute,
      path: '/approvals',
      validateSearch: readApprovals,
      component: page(() => import('./pages/approvals/approvals.tsx'), 'Approvals'),
    }),
    createRoute({
      getParentRoute: () => rootRoute,
      path: '/approvals/$id',
      validateSearch: readApprovals,
      component: page(() => import('./pages/approvals/approvals.tsx'), 'Approvals'),
    }),
    createRoute({
      getParentRoute: () => rootRoute,
      path: '/policies',
      validateSearch: readTexts('tab'),
      component: page(() => import('./pages/policies/policies.tsx'), 'Policies'),
    }),
    createRoute({
      getParentRoute: () => rootRoute,
      path: '/policies/$id',
      validateSearch: readTexts('like'),
      component: page(() => import('./pages/policies/editor.tsx'), 'PolicyEditor'),
    }),
    createRoute({
      getParentRoute: () => rootRoute,
      path: '/policies/approval-rules/$id',
      validateSearch: readTexts('except'),
      component: page(() => import('./pages/approval-rules/editor.tsx'), 'ApprovalRuleEditor'),
    }),
    ledgerRoute.addChildren([
      createRoute({
        getParentRoute: () => ledgerRoute,
        path: '$seq',
        component: page(() => import('./pages/ledger/entry.tsx'), 'EntryPanel'),
      }),
    ]),
    createRoute({
      getParentRoute: () => rootRoute,
      path: '/decisions/$id',
      component: page(() => import('./pages/decisions/decision.tsx'), 'DecisionPage'),
    }),
    createRoute({
      getParentRoute: () => rootRoute,
      path: '/agents',
      validateSearch: readTexts('tab'),
      component: page(() => import('./pages/agents/agents.tsx'), 'Agents'),
    }),
    createRoute({
      getParentRoute: () => rootRoute,
      path: '/agents/$id',
      component: page(() => import('./pages/agents/agent.tsx'), 'AgentPage'),
    }),
    createRoute({
      getParentRoute: () => rootRoute,
      path: '/agents/trust/$id',
      component: page(() => import('./pages/trust/editor.tsx'), 'TrustEditor'),
    }),
    createRoute({
      getParentRoute: () => rootRoute,
      path: '/agents/issuers/$id',
      validateSearch: readTexts('copy'),
      component: page(() => import('./pages/issuers/editor.tsx'), 'IssuerPage'),
    }),
    createRoute({
      getParentRoute: () => rootRoute,
      path: '/mcp-tools',
      validateSearch: readTexts('tab'),
      component: page(() => import('./pages/mcp-tools/list.tsx'), 'McpTools'),
    }),
    createRoute({
      getParentRoute: () => rootRoute,
      path: '/mcp-tools/$id',
      component: page(() => import('./pages/mcp-tools/tool.tsx'), 'McpToolPage'),
    }),
    createRoute({
      getParentRoute: () => rootRoute,
      path: '/spend',
      validateSearch: readTexts('agent'),
      component: page(() => import('./pages/spend/spend.tsx'), 'Spend'),
    }),
    createRoute({
      getParentRoute: () => rootRoute,
      path: '/reports',
      component: page(() => import('./pages/reports/reports.tsx'), 'Reports'),
    }),
    createRoute({
      getParentRoute: () => rootRoute,
      path: '/reports/$id',
      component: page(() => import('./pages/reports/report.tsx'), 'ReportPage'),
    }),
    createRoute({
      getParentRoute: () => rootRoute,
      path: '/playground',
      validateSearch: readTexts('tab'),
      component: page(() => import('./pages/playground/playground.tsx'), 'Playground'),
    }),
    createRoute({
      getParentRoute: () => rootRoute,
      path: '/settings',
      validateSearch: readTexts('tab'),
      component: page(() => import('./pages/settings/settings.tsx'), 'Settings'),
    }),
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
