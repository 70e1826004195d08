import type { Database } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'

/** Returns true if an organization exchanges tokens without an ingest key (`keyless_exchange`). */
export async function allowsKeylessExchange(db: Database<CoreTables>): Promise<boolean> {
  const found = await db
    .selectFrom('organization')
    .select('id')
    .where('plan', '=', 'enterprise')
    // Settings are compact JSON, in which no string can contain an unescaped quote.
    .where('settings', 'like', '%"keyless_exchange":true%')
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
