import { openDatabase } from '@remit/core/db/open'
import type { CoreTables } from '@remit/core/db'
import { verifyDatabase } from '@remit/core/ledger/records'
import { listOrganizations } from '@remit/core/orgs'

const PAGE = 5_000

/** Compares what clients were told with the ledger, and verifies it. */
export async function account(
  databaseUrl: string,
  answered: ReadonlyMap<number, string>,
): Promise<{ readonly lost: number; readonly entries: number; readonly status: string }> {
  const db = openDatabase<CoreTables>(databaseUrl)
  try {
    const [organization] = await listOrganizations(db)
    const orgId = organization?.id ?? ''
    let found = 0
    for (let after = -1; ;) {
      const rows = await db
        .selectFrom('ledger_entry')
        .select(['seq', 'hash'])
        .where('org_id', '=', orgId)
        .where('seq', '>', after)
        .orderBy('seq')
        .limit(PAGE)
        .execute()
      for (const { seq, hash } of rows) {
        const told = answered.get(seq)
        if (told !== undefined && hash.startsWith(told)) found++
      }
      const last = rows.at(-1)
      if (!last) break
      after = last.seq
    }
    const { status, checked } = await verifyDatabase(db, orgId)
    return { lost: answered.size - found, entries: checked.entries, status }
  } finally {
    await db.destroy()
  }
}

/** The slope of a line through the points, by least squares. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (pick: 0 | 1) => points.reduce((sum, point) => sum + point[pick], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const above = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0)
  return above / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
}
