import { actorOf, personOf } from '@remit/core'
import type { AnyDatabase, PeopleSessions } from '@remit/core'
import type { IdentityProvider } from './provider.ts'
import { addressesOf, findByAddress, findPerson } from '../people/store.ts'

/** The people of organizations, for votes and sessions. */
export const peopleSessions = (provider: IdentityProvider | null): PeopleSessions => ({
  login: provider && { label: provider.label },
  async namesOf(db: AnyDatabase, orgId: string, name: string) {
    const row = name.startsWith('per_')
      ? await findPerson(db, orgId, name)
      : (await findByAddress(db, name, orgId))[0]
    return row ? [row.id, ...addressesOf(row)] : null
  },
  signedOut: (caller) => ({
    kind: 'person.signed_out',
    actor: actorOf(caller),
    data: { person_id: caller.principal.id, ...personOf(caller) },
  }),
  signOutUrl: () => provider?.signOutUrl() ?? Promise.resolve(null),
})
