import type { Deps } from '@remit/core/module'
import { findOrganization } from '@remit/core/orgs'
import type { Candidate } from './candidates.ts'
import { domainOf } from './own/domains.ts'
import { findByDomain } from './own/store.ts'
import type { LoginWay, LoginWays } from './ways.ts'

export const NOT_SET_UP = 'Single sign-on is not set up. Sign in with a key.'

/** The way to sign in, organizations to choose from, or a sentence that says what is missing. */
export type WayChoice =
  | { readonly way: LoginWay; readonly orgId: string | null }
  | { readonly organizations: readonly Candidate[] }
  | { readonly missing: string }

/** `asked`: id or name of an organization, an e-mail address of its domain, or null. */
export async function chooseWay(
  db: Deps['db'],
  ways: LoginWays,
  asked: string | null,
): Promise<WayChoice> {
  const found = asked === null ? [] : await organizationsOf(db, asked.trim())
  if (found.length > 1) return { organizations: found }
  const orgId = found[0]?.id ?? null
  const way = (orgId === null ? null : await ways.ofOrganization(orgId)) ?? ways.server
  if (way) return { way, orgId }
  return {
    missing:
      asked === null ? NOT_SET_UP : 'No organization with this name or domain has single sign-on.',
  }
}

async function organizationsOf(db: Deps['db'], asked: string): Promise<readonly Candidate[]> {
  const domain = domainOf(asked)
  if (domain !== null) return findByDomain(db, domain)
  const found = await findOrganization(db, asked)
  return found ? [{ id: found.id, name: found.name }] : []
}
