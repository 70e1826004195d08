import type { Endpoint } from '@remit/contract'
import { fail } from '../base/errors.ts'
import { on } from '../db/portable.ts'
import type { AnyDatabase } from '../db/portable.ts'
import type { CoreTables } from '../db/schema.ts'

/** Work for the organization that the writer, which refuses the suspended ones, does not see. */
export const computes = ({ method, plan, viaWriter, public: isPublic }: Endpoint): boolean =>
  method === 'POST' && plan === 'open' && !viaWriter && !isPublic

/** Throws `organization_suspended`. */
export async function refuseSuspended(db: AnyDatabase, orgId: string): Promise<void> {
  const row = await on<CoreTables>(db)
    .selectFrom('organization')
    .select('suspended_at')
    .where('id', '=', orgId)
    .executeTakeFirst()
  if (row && row.suspended_at !== null) throw fail('organization_suspended')
}
