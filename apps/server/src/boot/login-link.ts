import { isUnavailable } from '@remit/core/db'
import { isLoopback, listKeys } from '@remit/core/keys'
import { findOrganization, organizationPage } from '@remit/core/orgs'
import type { Booted } from './boot.ts'

/**
 * Returns a link that signs in to the console once, with the oldest admin key of the first
 * organization. Null except in evaluation on this machine alone, without a public address.
 */
export async function loginLink(booted: Booted, url: string): Promise<string | null> {
  try {
    return await createLink(booted, url)
  } catch (error) {
    // On a cluster, the node of that organization may be lost; the server serves the others.
    if (isUnavailable(error)) return null
    throw error
  }
}

async function createLink({ config, db, remit }: Booted, url: string): Promise<string | null> {
  const isLocal = config.REMIT_BASE_URL === undefined && isLoopback(config.REMIT_HOST)
  if (!config.REMIT_EVALUATION || !isLocal) return null
  const { REMIT_BOOTSTRAP_ORG: name } = config
  const named = name === undefined ? undefined : await findOrganization(db, name)
  const organization = named ?? (await organizationPage(db, 1)).rows[0]
  if (!organization) return null
  const keys = await listKeys(db, organization.id)
  const key = keys.find(({ role, revoked_at }) => role === 'admin' && revoked_at === null)
  return key ? url + remit.loginPath({ orgId: organization.id, keyId: key.id }) : null
}
