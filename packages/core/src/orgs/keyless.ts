import type { Plan } from '@remit/contract'
import type { Database } from '../db/open.ts'
import { eachPart, inPart } from '../db/parts.ts'
import type { CoreTables } from '../db/schema.ts'
import { reaches } from '../keys/authenticator.ts'

/**
 * Returns true if an organization exchanges tokens without an ingest key (`keyless_exchange`). No plan
 * is higher than `ceiling`.
 */
export async function allowsKeylessExchange(
  db: Database<CoreTables>,
  ceiling: Plan,
): Promise<boolean> {
  if (!reaches(ceiling, 'enterprise')) return false
  const found = await eachPart(
    db,
    (part) =>
      db
        .selectFrom('organization')
        .select('id')
        .where(inPart(part, 'id'))
        .where('plan', '=', 'enterprise')
        // Settings are compact JSON, in which no string can contain an unescaped quote.
        .where('settings', 'like', '%"keyless_exchange":true%')
        .limit(1)
        .executeTakeFirst(),
    ignore,
  )
  return found.some((row) => row !== undefined)
}

/** An organization that cannot be read exchanges nothing now. */
const ignore = (): void => undefined
