import { fail } from '../base/errors.ts'
import { statement } from '../db/portable.ts'
import type { AnyDatabase } from '../db/portable.ts'

const suspended = statement<{ suspended_at: string | null }>(
  'select suspended_at from organization where id = ?',
)

/** Throws `organization_suspended`. */
export async function refuseSuspended(db: AnyDatabase, orgId: string): Promise<void> {
  const [row] = await suspended(db, [orgId])
  if (row && row.suspended_at !== null) throw fail('organization_suspended')
}
