import { actorOf, personOf } from '@remit/core/caller'
import type { AnyDatabase } from '@remit/core/db'
import type { PeopleSessions } from '@remit/core/keys'
import { hasOwnProviders } from './own/store.ts'
import type { LoginWays } from './ways.ts'
import { addressesOf, findByAddress, findPerson, listDeciders } from '../people/store.ts'

/** The people of organizations, for votes and sessions. */
export const peopleSessions = (ways: LoginWays, db: AnyDatabase): PeopleSessions => ({
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
