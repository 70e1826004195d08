import { Failure } from '@remit/core/base'
import { Attempts, networkOf } from '@remit/core/http'
import type { Deps } from '@remit/core/module'
import { isOrganizationName } from '@remit/core/orgs'
import { toPerson } from '../people/changes.ts'
import { foldAddress, insertPerson } from '../people/store.ts'
import type { Identity } from './provider.ts'

/** Organizations that one network may create in an hour. */
const PER_NETWORK = 5
const HOUR_S = 60 * 60

/** A new organization with its first key, or the reason why there is none. */
export interface SignedUp {
  readonly id: string
  readonly name: string
  /** The text of the first admin key. */
  readonly key: string
}
export type SignUp = SignedUp | { readonly refused: string }

/** Creates organizations of people whom no organization knows. */
export interface SignUps {
  create(identity: Identity, address: string | undefined): Promise<SignUp>
}

/** Null unless the server offers sign-up. */
export function signUpsOf({ newOrganization, settings, ids, log }: Deps): SignUps | null {
  const { signUpsPerHour } = settings
  if (signUpsPerHour === undefined || newOrganization === null) return null
  const all = new Attempts(signUpsPerHour, HOUR_S)
  const networks = new Attempts(PER_NETWORK, HOUR_S)

  /**
   * Creates the organization and invites its person as administrator, in one transaction: a sign-in
   * that ends between that and the session is repeated. The address is the name, and names are
   * unique: simultaneous requests create one organization per address.
   */
  const create = async (identity: Identity, email: string): Promise<SignUp> => {
    const name = foldAddress(email)
    if (!isOrganizationName(name)) return { refused: 'the e-mail address is too long' }
    try {
      const { organization, key } = await newOrganization(name, {
        plan: 'free',
        person: name,
        begin: async (tx, { id, created_at }) => {
          const row = {
            org_id: id,
            id: ids.next('per_', Date.parse(created_at)),
            email,
            addresses: JSON.stringify([name]),
            name: identity.name,
            role: 'admin' as const,
            status: 'invited' as const,
            issuer: null,
            subject: null,
            created_at,
            created_by: identity.issuer,
            last_login_at: null,
          }
          await insertPerson(tx, row)
          const actor = { type: 'person', id: row.id }
          return [{ kind: 'person.invited', actor, data: { member: toPerson(row) } }]
        },
      })
      log.info({ orgId: organization.id }, 'an organization signed up')
      return { id: organization.id, name, key: key.secret }
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'organization_exists')) throw error
      return { refused: 'an organization for this address exists; ask its administrator' }
    }
  }

  return {
    async create(identity, address) {
      if (identity.email === null)
        return { refused: 'the identity provider has not verified an e-mail address' }
      const waits = (await networks.take(networkOf(address ?? ''))) || (await all.take('all'))
      if (waits > 0) return { refused: 'there are too many sign-ups now; try again in an hour' }
      return create(identity, identity.email)
    },
  }
}
