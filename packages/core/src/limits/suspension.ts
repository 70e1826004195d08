import type { Endpoint } from '@remit/contract'
import { fail } from '../base/errors.ts'
import { statement } from '../db/portable.ts'
import type { AnyDatabase } from '../db/portable.ts'

/** Work for the organization that the writer, which refuses the suspended ones, does not see. */
export const computes = ({ method, plan, viaWriter, public: isPublic }: Endpoint): boolean =>
  method === 'POST' && plan === 'open' && !viaWriter && !isPublic

const suspended = statement<{ suspended_at: string | null }>(
  'select suspended_at from organization where id = ?',
)

/** Throws `organization_suspended`. */
export async function refuseSuspended(db: AnyDatabase, orgId: string): Promise<void> {
  const [row] = await suspended(db, [orgId])
  if (row && row.suspended_at !== null) throw fail('organization_suspended')
}
