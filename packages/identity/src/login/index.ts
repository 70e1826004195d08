import { actorOf, personOf } from '@remit/core/caller'
import type { AnyDatabase } from '@remit/core/db'
import type { PeopleSessions } from '@remit/core/keys'
import type { Contribution, Deps } from '@remit/core/module'
import { peopleRoutes } from '../people/routes.ts'
import type { IsRoleManaged } from '../people/changes.ts'
import { loginProviderRoutes } from './own/routes.ts'
import { findOwnProvider, hasOwnProviders } from './own/store.ts'
import { loginPages } from './pages.ts'
import { addressesOf, findByAddress, findPerson, listDeciders } from '../people/store.ts'
import { LoginWays, roleMapOf } from './ways.ts'

/** People and their sign-in with identity providers. */
export function peopleOf(deps: Deps): Required<Pick<Contribution, 'routes' | 'consolePages'>> & {
  readonly people: PeopleSessions
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

/** The people of organizations, for votes and sessions. */
const peopleSessions = (ways: LoginWays, db: AnyDatabase): PeopleSessions => ({
  login: ways.server && { label: ways.server.provider.label },
  hasOrganizationLogins: () => hasOwnProviders(db),
  async namesOf(reader: AnyDatabase, orgId: string, name: string) {
    const row = name.startsWith('per_')
      ? await findPerson(reader, orgId, name)
      : (await findByAddress(reader, orgId, name))[0]
    return row ? [row.id, ...addressesOf(row)] : null
  },
  async deciders(reader: AnyDatabase, orgId: string) {
    const rows = await listDeciders(reader, orgId)
    return rows.map((row) => ({
      id: row.id,
      email: row.email,
      role: row.role,
      names: [row.id, ...addressesOf(row)],
    }))
  },
  signedOut: (caller) => ({
    kind: 'person.signed_out',
    actor: actorOf(caller),
    data: { person_id: caller.principal.id, ...personOf(caller) },
  }),
  async signOutUrl({ orgId }) {
    const own = await ways.ofOrganization(orgId).catch(() => null)
    return (await (own ?? ways.server)?.provider.signOutUrl().catch(() => null)) ?? null
  },
})
