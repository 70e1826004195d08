import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router'
import { readSearch as readApprovals } from './pages/approvals/statuses.ts'
import { readLive } from './pages/live/filter.ts'
import { readFilters } from './pages/ledger/filters.ts'
import { NotFound } from './shell/current-page.tsx'
import { Broken, Root } from './shell/root.tsx'
import { Skeleton } from './ui/states.tsx'

const root = createRootRoute({
  component: Root,
  notFoundComponent: NotFound,
  errorComponent: Broken,
})

/** Views of a page that are tabs. */
const readTab = ({ tab }: Record<string, unknown>): { tab?: string } =>
  typeof tab === 'string' ? { tab } : {}

const ledger = createRoute({
  getParentRoute: () => root,
  path: '/ledger',
  validateSearch: readFilters,
  component: lazyRouteComponent(() => import('./pages/ledger/explorer.tsx'), 'Explorer'),
})
const entry = createRoute({
  getParentRoute: () => ledger,
  path: '$seq',
  component: lazyRouteComponent(() => import('./pages/ledger/entry.tsx'), 'EntryPanel'),
})

const decision = createRoute({
  getParentRoute: () => root,
  path: '/decisions/$id',
  component: lazyRouteComponent(() => import('./pages/decisions/decision.tsx'), 'DecisionPage'),
})

const approvals = createRoute({
  getParentRoute: () => root,
  path: '/approvals',
  validateSearch: readApprovals,
  component: lazyRouteComponent(() => import('./pages/approvals/approvals.tsx'), 'Approvals'),
})
const approval = createRoute({
  getParentRoute: () => root,
  path: '/approvals/$id',
  validateSearch: readApprovals,
  component: lazyRouteComponent(() => import('./pages/approvals/approvals.tsx'), 'Approvals'),
})

const policies = createRoute({
  getParentRoute: () => root,
  path: '/policies',
  validateSearch: readTab,
  component: lazyRouteComponent(() => import('./pages/policies/policies.tsx'), 'Policies'),
})
const policy = createRoute({
  getParentRoute: () => root,
  path: '/policies/$id',
  validateSearch: ({ like }: Record<string, unknown>): { like?: string } =>
    typeof like === 'string' ? { like } : {},
  component: lazyRouteComponent(() => import('./pages/policies/editor.tsx'), 'PolicyEditor'),
})

const approvalRule = createRoute({
  getParentRoute: () => root,
  path: '/policies/approval-rules/$id',
  validateSearch: ({ except }: Record<string, unknown>): { except?: string } =>
    typeof except === 'string' ? { except } : {},
  component: lazyRouteComponent(
    () => import('./pages/approval-rules/editor.tsx'),
    'ApprovalRuleEditor',
  ),
})

const live = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: readLive,
  component: lazyRouteComponent(() => import('./pages/live/live.tsx'), 'Live'),
})
const agents = createRoute({
  getParentRoute: () => root,
  path: '/agents',
  validateSearch: readTab,
  component: lazyRouteComponent(() => import('./pages/agents/agents.tsx'), 'Agents'),
})
const agent = createRoute({
  getParentRoute: () => root,
  path: '/agents/$id',
  component: lazyRouteComponent(() => import('./pages/agents/agent.tsx'), 'AgentPage'),
})
const trust = createRoute({
  getParentRoute: () => root,
  path: '/agents/trust/$id',
  component: lazyRouteComponent(() => import('./pages/trust/editor.tsx'), 'TrustEditor'),
})
const issuer = createRoute({
  getParentRoute: () => root,
  path: '/agents/issuers/$id',
  validateSearch: ({ copy }: Record<string, unknown>): { copy?: string } =>
    typeof copy === 'string' ? { copy } : {},
  component: lazyRouteComponent(() => import('./pages/issuers/editor.tsx'), 'IssuerPage'),
})
const mcpTools = createRoute({
  getParentRoute: () => root,
  path: '/mcp-tools',
  validateSearch: readTab,
  component: lazyRouteComponent(() => import('./pages/mcp-tools/list.tsx'), 'McpTools'),
})
const mcpTool = createRoute({
  getParentRoute: () => root,
  path: '/mcp-tools/$id',
  component: lazyRouteComponent(() => import('./pages/mcp-tools/tool.tsx'), 'McpToolPage'),
})
const spend = createRoute({
  getParentRoute: () => root,
  path: '/spend',
  validateSearch: ({ agent: id }: Record<string, unknown>): { agent?: string } =>
    typeof id === 'string' ? { agent: id } : {},
  component: lazyRouteComponent(() => import('./pages/spend/spend.tsx'), 'Spend'),
})
const reports = createRoute({
  getParentRoute: () => root,
  path: '/reports',
  component: lazyRouteComponent(() => import('./pages/reports/reports.tsx'), 'Reports'),
})
const report = createRoute({
  getParentRoute: () => root,
  path: '/reports/$id',
  component: lazyRouteComponent(() => import('./pages/reports/report.tsx'), 'ReportPage'),
})
const playground = createRoute({
  getParentRoute: () => root,
  path: '/playground',
  validateSearch: readTab,
  component: lazyRouteComponent(() => import('./pages/playground/playground.tsx'), 'Playground'),
})
const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  validateSearch: readTab,
  component: lazyRouteComponent(() => import('./pages/settings/settings.tsx'), 'Settings'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    live,
    approvals,
    approval,
    policies,
    policy,
    approvalRule,
    ledger.addChildren([entry]),
    decision,
    agents,
    agent,
    trust,
    issuer,
    mcpTools,
    mcpTool,
    spend,
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
