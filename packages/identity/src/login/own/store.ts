import { eachPart, inPart, on } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { Outbound } from '@remit/core/net'
import type { Deps, StoredSecrets } from '@remit/core/module'
import type { SecretBox } from '@remit/core/secrets'
import type { LoginDomainRow, LoginProviderRow } from '../../tables/login.ts'
import type { Tables } from '../../tables/schema.ts'

/** The OpenID provider of an organization with its domains. */
export interface OwnProvider extends LoginProviderRow {
  readonly domains: readonly Pick<LoginDomainRow, 'domain' | 'verified'>[]
}

export async function findOwnProvider(db: AnyDatabase, orgId: string): Promise<OwnProvider | null> {
  const row = await on<Tables>(db)
    .selectFrom('login_provider')
    .selectAll()
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  if (!row) return null
  const domains = await on<Tables>(db)
    .selectFrom('login_domain')
    .select(['domain', 'verified'])
    .where('org_id', '=', orgId)
    .orderBy('domain')
    .execute()
  return { ...row, domains }
}

export async function putOwnProvider(
  db: AnyDatabase,
  { domains, ...row }: OwnProvider,
): Promise<void> {
  const { org_id, created_at: _, ...changes } = row
  await on<Tables>(db)
    .insertInto('login_provider')
    .values(row)
    .onConflict((conflict) => conflict.column('org_id').doUpdateSet(changes))
    .execute()
  await removeDomains(db, org_id)
  if (domains.length === 0) return
  await on<Tables>(db)
    .insertInto('login_domain')
    .values(domains.map((one) => ({ org_id, ...one })))
    .execute()
}

export async function removeOwnProvider(db: AnyDatabase, orgId: string): Promise<void> {
  await on<Tables>(db).deleteFrom('login_provider').where('org_id', '=', orgId).execute()
  await removeDomains(db, orgId)
}

async function removeDomains(db: AnyDatabase, orgId: string): Promise<void> {
  await on<Tables>(db).deleteFrom('login_domain').where('org_id', '=', orgId).execute()
}

export async function hasOwnProviders(db: AnyDatabase): Promise<boolean> {
  const found = await eachPart(
    db,
    (part) =>
      on<Tables>(db)
        .selectFrom('login_provider')
        .select('org_id')
        .where(inPart(part))
        .limit(1)
        .executeTakeFirst(),
    ignore,
  )
  return found.some((row) => row !== undefined)
}

/** Returns the organizations that have proven a domain. */
export async function findByDomain(
  db: AnyDatabase,
  domain: string,
): Promise<{ id: string; name: string }[]> {
  const parts = await eachPart(
    db,
    (part) =>
      on<Tables>(db)
        .selectFrom('login_domain as d')
        .innerJoin('organization as o', 'o.id', 'd.org_id')
        .select(['o.id', 'o.name'])
        .where(inPart(part, 'd.org_id'))
        .where('d.domain', '=', domain)
        .where('d.verified', '=', 1)
        .execute(),
    ignore,
  )
  return parts.flat().toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Nobody signs in to an organization that is unavailable. */
const ignore = (): void => undefined

/**
 * Forgets the identities of all people, who are found by their verified address at the next sign-in,
 * and ends the sessions of all but one.
 */
export async function forgetIdentities(
  db: AnyDatabase,
  orgId: string,
  exceptPerson: string,
): Promise<void> {
  await on<Tables>(db)
    .updateTable('person')
    .set({ issuer: null, subject: null })
    .where('org_id', '=', orgId)
    .execute()
  await on<Tables>(db)
    .deleteFrom('console_session')
    .where('org_id', '=', orgId)
    .where('person_id', 'is not', null)
    .where('person_id', '<>', exceptPerson)
    .execute()
}

const recordOf = (domain: string): string => `_remit-login.${domain}`

/** The value that names an organization. */
const proofOf = (orgId: string): string => `remit-organization=${orgId}`

/** Returns the domains with the result of a lookup of their TXT records. */
export const proveDomains = (
  outbound: Outbound,
  orgId: string,
  domains: readonly string[],
): Promise<{ domain: string; verified: number }[]> =>
  Promise.all(
    [...new Set(domains)].toSorted().map(async (domain) => {
      const texts = await outbound.textsOf(recordOf(domain))
      return { domain, verified: texts.includes(proofOf(orgId)) ? 1 : 0 }
    }),
  )

/** Returns the domain of an address, for comparisons; null for a text that is no address. */
export function domainOf(address: string): string | null {
  const at = address.lastIndexOf('@')
  return at < 1
    ? null
    : address
        .slice(at + 1)
        .normalize('NFC')
        .toLowerCase()
}

const placeOf = (orgId: string): string => `login_provider/${orgId}/secret`

export const sealSecret = (box: SecretBox, orgId: string, secret: string): string =>
  box.seal(secret, placeOf(orgId))

/** The secret of the client; null for a public client. Throws `SecretUnreadable`. */
export const openSecret = (
  box: SecretBox,
  { org_id, secret }: Pick<LoginProviderRow, 'org_id' | 'secret'>,
): string | null => (secret === null ? null : box.open(secret, placeOf(org_id)))

/** For a change of the key. */
export const loginSecrets = ({
  db,
  secrets: box,
}: Pick<Deps, 'db' | 'secrets'>): StoredSecrets<Pick<LoginProviderRow, 'org_id' | 'secret'>> => ({
  kind: 'login provider',
  rows: (part) =>
    on<Tables>(db)
      .selectFrom('login_provider')
      .select(['org_id', 'secret'])
      .where(inPart(part))
      .execute(),
  async reseal(row) {
    const text = openSecret(box, row)
    if (text === null || box.isCurrent(row.secret ?? '')) return false
    const { numUpdatedRows } = await on<Tables>(db)
      .updateTable('login_provider')
      .set({ secret: sealSecret(box, row.org_id, text) })
      .where('org_id', '=', row.org_id)
      .where('secret', '=', row.secret)
      .executeTakeFirst()
    return numUpdatedRows > 0n
  },
})
