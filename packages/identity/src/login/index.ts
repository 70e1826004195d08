import { createOutbound } from '@remit/core'
import type { Contribution, Deps, OidcSettings, Outbound } from '@remit/core'
import { peopleRoutes } from '../people/routes.ts'
import { peopleSessions } from './people-sessions.ts'
import { loginPages } from './pages.ts'
import { IdentityProvider } from './provider.ts'

/** The operator chose the provider, so it may be on a private network; others' targets may not. */
const outboundFor = ({ allowPrivate, allowLoopback }: OidcSettings, outbound: Outbound): Outbound =>
  allowPrivate ? createOutbound({ allowPrivate, allowLoopback }) : outbound

/** People and their sign-in with an identity provider. */
export function peopleOf(deps: Deps): Required<Pick<Contribution, 'routes' | 'consolePages'>> & {
  readonly people: ReturnType<typeof peopleSessions>
} {
  const { oidc: settings } = deps.settings
  const redirectUri = () => new URL('/console/callback', deps.sessions.place.origins[0]).href
  const provider = settings
    ? new IdentityProvider(settings, outboundFor(settings, deps.outbound), redirectUri)
    : null
  return {
    routes: peopleRoutes(deps),
    consolePages: loginPages(deps, provider && settings ? { provider, settings } : null),
    people: peopleSessions(provider),
  }
}
