import { inPart, on, orgTable } from '@remit/core/db'
import type { AnyDatabase, Part } from '@remit/core/db'
import type { Tables } from '../tables/schema.ts'
import type { TrustedIssuerRow } from '../tables/issuers.ts'

const issuers = orgTable<Tables, 'trusted_issuer'>('trusted_issuer', 'id')

/** Ids sort by creation, and so does the list. */
export const {
  find: findIssuer,
  list: listIssuers,
  count: countIssuers,
  change: changeIssuer,
} = issuers

/** Returns false, and writes nothing, if another record has one of the audiences. */
export async function insertIssuer(
  db: AnyDatabase,
  row: TrustedIssuerRow,
  audiences: readonly string[],
): Promise<boolean> {
  const { org_id, issuer } = row
  const taken = await on<Tables>(db)
    .selectFrom('issuer_audience')
    .select('audience')
    .where('org_id', '=', org_id)
    .where('issuer', '=', issuer)
    .where('audience', 'in', audiences)
    .executeTakeFirst()
  if (taken) return false
  await issuers.insert(db, row)
  await on<Tables>(db)
    .insertInto('issuer_audience')
    .values(audiences.map((audience) => ({ org_id, issuer, audience, idp_id: row.id })))
    .execute()
  return true
}

/** The deleted record, or undefined. */
export async function deleteIssuer(
  db: AnyDatabase,
  orgId: string,
  id: string,
): Promise<TrustedIssuerRow | undefined> {
  const row = await issuers.remove(db, orgId, id)
  if (row) {
    await on<Tables>(db)
      .deleteFrom('issuer_audience')
      .where('org_id', '=', orgId)
      .where('issuer', '=', row.issuer)
      .where('idp_id', '=', id)
      .execute()
  }
  return row
}

/** A few organizations of a part that have a record of the issuer for one of the audiences. */
export const findOrganizations = (
  db: AnyDatabase,
  part: Part,
  issuer: string,
  audiences: readonly string[],
): Promise<{ id: string; plan: string; settings: string }[]> =>
  on<Tables>(db)
    .selectFrom('issuer_audience')
    .innerJoin('organization', 'organization.id', 'issuer_audience.org_id')
    .select(['organization.id', 'organization.plan', 'organization.settings'])
    .distinct()
    .where(inPart(part, 'issuer_audience.org_id'))
    .where('issuer_audience.issuer', '=', issuer)
    .where('issuer_audience.audience', 'in', audiences)
    .limit(100)
    .execute()
