import { on } from '@remit/core'
import type { AnyDatabase } from '@remit/core'
import type { HookCallRow } from '../tables/hooks.ts'
import type { Tables } from '../tables/schema.ts'

/** The decision on a call, by its id or else by its input, the newest first. */
export const findCall = (
  db: AnyDatabase,
  orgId: string,
  by: { readonly call: string } | { readonly input: string },
): Promise<HookCallRow | undefined> => {
  const rows = on<Tables>(db).selectFrom('hook_call').selectAll().where('org_id', '=', orgId)
  return (
    'call' in by
      ? rows.where('call_key', '=', by.call)
      : rows.where('input_key', '=', by.input).orderBy('created_at', 'desc').limit(1)
  ).executeTakeFirst()
}

/** Keeps a decision; a later one on the same call replaces it. */
export const putCall = async (db: AnyDatabase, row: HookCallRow): Promise<void> => {
  const { org_id: _, call_key: __, ...rest } = row
  await on<Tables>(db)
    .insertInto('hook_call')
    .values(row)
    .onConflict((conflict) => conflict.columns(['org_id', 'call_key']).doUpdateSet(rest))
    .execute()
}

/** Forgets a call whose outcome is known; false if another process was first. */
export const takeCall = async (db: AnyDatabase, orgId: string, call: string): Promise<boolean> => {
  const { numDeletedRows } = await on<Tables>(db)
    .deleteFrom('hook_call')
    .where('org_id', '=', orgId)
    .where('call_key', '=', call)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Forgets calls that no host will report any more. */
export const forgetCalls = async (db: AnyDatabase, before: string): Promise<void> => {
  await on<Tables>(db).deleteFrom('hook_call').where('created_at', '<', before).execute()
}
