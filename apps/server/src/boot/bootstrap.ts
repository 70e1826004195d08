import { organizationIds } from '@remit/core/db'
import { findKeyOrganization, parseKey } from '@remit/core/keys'
import { organizationExists } from '@remit/core/orgs'
import type { Booted } from './boot.ts'
import { ConfigError } from '../settings/environment.ts'

/** The admin key of the organization that the first start creates. */
export interface FirstKey {
  readonly organization: string
  readonly secret: string
  /** True if the key came from the settings. */
  readonly given: boolean
}

/**
 * Creates the organization of the settings unless it exists. Returns null if nothing was created.
 */
export async function bootstrap({ config, db, newOrganization }: Booted): Promise<FirstKey | null> {
  const { REMIT_BOOTSTRAP_ORG, REMIT_BOOTSTRAP_KEY: given } = config
  const organization = REMIT_BOOTSTRAP_ORG ?? (given === undefined ? undefined : 'default')
  if (organization === undefined || (await organizationExists(db, organization))) return null
  // Without a given key, only a mistyped name would create a second organization.
  if (given === undefined && (await organizationIds(db)).length > 0) return null
  const key = given === undefined ? undefined : (parseKey(given) ?? undefined)
  try {
    const { secret } = (await newOrganization(organization, { key })).key
    return { organization, secret, given: key !== undefined }
  } catch (error) {
    // Another process that started concurrently may have been first.
    if (await organizationExists(db, organization)) return null
    if (key && (await findKeyOrganization(db, key.id))) {
      throw new ConfigError('REMIT_BOOTSTRAP_KEY already belongs to another organization')
    }
    throw error
  }
}
