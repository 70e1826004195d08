import type { Contribution, Deps } from '@remit/core/module'
import { peopleRoutes } from '../people/routes.ts'
import type { IsRoleManaged } from '../people/changes.ts'
import { loginProviderRoutes } from './own/routes.ts'
import { findOwnProvider } from './own/store.ts'
import { loginPages } from './pages.ts'
import { peopleSessions } from './people-sessions.ts'
import { LoginWays, roleMapOf } from './ways.ts'

/** People and their sign-in with identity providers. */
export function peopleOf(deps: Deps): Required<Pick<Contribution, 'routes' | 'consolePages'>> & {
  readonly people: ReturnType<typeof peopleSessions>
} {
  const ways = new LoginWays(deps)
  const isRoleManaged: IsRoleManaged = async (tx, orgId) => {
    const own = await findOwnProvider(tx, orgId)
    return own ? roleMapOf(own).size > 0 : deps.settings.oidc?.roleMap != null
  }
  return {
    routes: [...peopleRoutes(deps, isRoleManaged), ...loginProviderRoutes(deps, ways)],
    consolePages: loginPages(deps, ways),
    people: peopleSessions(ways, deps.db),
  }
}
