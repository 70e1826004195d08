import { fail } from '../base/errors.ts'
import type { Failure } from '../base/errors.ts'
import { on } from '../db/portable.ts'
import type { AnyDatabase } from '../db/portable.ts'
import type { CoreTables } from '../db/schema.ts'

/** Returns true if the rows of an organization have been removed. */
export async function isDeleted(db: AnyDatabase, orgId: string): Promise<boolean> {
  const row = await on<CoreTables>(db)
    .selectFrom('deleted_organization')
    .select('id')
    .where('id', '=', orgId)
    .executeTakeFirst()
  return row !== undefined
}

/** The refusal of work for a deleted organization: its keys are gone. */
export const organizationDeleted = (): Failure =>
  fail('unauthorized', 'The organization was deleted')
