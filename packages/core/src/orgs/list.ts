import { visitAll } from '../base/visit-all.ts'
import { isDistributed } from '../db/distributed.ts'
import type { Db } from '../db/open.ts'
import { ORGANIZATIONS_AT_ONCE, organizationIds } from '../db/parts.ts'
import type { LedgerHeadRow, OrganizationRow } from '../db/schema.ts'

const PAGE = 500

/** An organization with its count of decisions; null without a ledger. */
export type ListedOrganization = OrganizationRow & {
  readonly [Name in 'decided' | 'decided_month']: LedgerHeadRow[Name] | null
}

export interface OrganizationPage {
  readonly rows: readonly ListedOrganization[]
  /** The id to continue after; null on the last page. */
  readonly next: string | null
}

/**
 * Returns a page of organizations, oldest first. On a distributed database each is read from its node:
 * throws if the node of one is lost.
 */
export async function organizationPage(
  db: Db,
  limit: number,
  after = '',
): Promise<OrganizationPage> {
  // One more tells whether a next page exists.
  const ids = await organizationIds(db, { limit: limit + 1, after })
  const shown = ids.slice(0, limit)
  const rows = await read(db, shown)
  const byId = new Map(rows.map((row) => [row.id, row]))
  return {
    // One may have been deleted meanwhile.
    rows: shown.flatMap((id) => byId.get(id) ?? []),
    next: ids.length > limit ? (shown.at(-1) ?? null) : null,
  }
}

/** Returns all organizations, oldest first. */
export async function listOrganizations(db: Db): Promise<OrganizationRow[]> {
  const all: OrganizationRow[] = []
  for (let after: string | null = ''; after !== null;) {
    const page: OrganizationPage = await organizationPage(db, PAGE, after)
    all.push(...page.rows)
    after = page.next
  }
  return all
}

async function read(db: Db, ids: readonly string[]): Promise<ListedOrganization[]> {
  const some = (given: readonly string[]) =>
    db
      .selectFrom('organization')
      .leftJoin('ledger_head', 'ledger_head.org_id', 'organization.id')
      .selectAll('organization')
      .select(['decided', 'decided_month'])
      .where('organization.id', 'in', given)
      .execute()
  if (ids.length === 0) return []
  if (!(await isDistributed(db))) return some(ids)
  const rows: ListedOrganization[] = []
  await visitAll(ids, ORGANIZATIONS_AT_ONCE, async (id) => {
    rows.push(...(await some([id])))
  })
  return rows
}
