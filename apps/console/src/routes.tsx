import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from '@tanstack/react-router'
import { readSearch as readApprovals } from './pages/approvals/statuses.ts'
import { readFilters } from './pages/ledger/filters.ts'
import { Broken, NotFound, Root } from './shell/root.tsx'
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

const approvals = createRoute({
  getParentRoute: () => root,
  path: '/approvals',
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
  component: lazyRouteComponent(() => import('./pages/policies/editor.tsx'), 'PolicyEditor'),
})

export const router = createRouter({
  routeTree: root.addChildren([approvals, policies, policy, ledger.addChildren([entry])]),
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
