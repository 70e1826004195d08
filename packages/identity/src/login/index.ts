import type { Contribution, Deps } from '@remit/core'
import { peopleRoutes } from '../people/routes.ts'
import { peopleSessions } from './people-sessions.ts'
import { loginPages } from './pages.ts'
import { IdentityProvider } from './provider.ts'

/** People and their sign-in with an identity provider. */
export function peopleOf(deps: Deps): Required<Pick<Contribution, 'routes' | 'consolePages'>> & {
  readonly people: ReturnType<typeof peopleSessions>
} {
  const { oidc: settings } = deps.settings
  const redirectUri = () => new URL('/console/callback', deps.sessions.place.origins[0]).href
  const provider = settings ? new IdentityProvider(settings, deps.outbound, redirectUri) : null
  return {
    routes: peopleRoutes(deps),
    consolePages: loginPages(deps, provider && settings ? { provider, settings } : null),
    people: peopleSessions(provider),
  }
}
