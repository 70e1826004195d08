import { inPart, on } from '@remit/core'
import type { AnyDatabase, Part } from '@remit/core'
import type { HookCallRow } from '../tables/hooks.ts'
import type { Tables } from '../tables/schema.ts'

/** A call by its id, or else the newest one with an input that has no outcome yet. */
export const findCall = (
  db: AnyDatabase,
  orgId: string,
  by: { readonly call: string } | { readonly input: string },
): Promise<HookCallRow | undefined> => {
  const rows = on<Tables>(db).selectFrom('hook_call').selectAll().where('org_id', '=', orgId)
  return (
    'call' in by
      ? rows.where('call_key', '=', by.call)
      : rows
          .where('input_key', '=', by.input)
          .where('decision', '!=', 'ran')
          .orderBy('created_at', 'desc')
          .limit(1)
  ).executeTakeFirst()
}

/** Keeps a call; a later decision replaces an earlier one, but none the outcome of the same input. */
export const putCall = async (db: AnyDatabase, row: HookCallRow): Promise<void> => {
  const { org_id: _, call_key: __, ...rest } = row
  await on<Tables>(db)
    .insertInto('hook_call')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['org_id', 'call_key'])
        .doUpdateSet(rest)
        .where((where) =>
          where.or([
            where('hook_call.decision', '!=', 'ran'),
            where('hook_call.input_key', '!=', row.input_key),
          ]),
        ),
    )
    .execute()
}

/** Forgets calls that no host will report any more. */
export const forgetCalls = async (db: AnyDatabase, part: Part, before: string): Promise<void> => {
  await on<Tables>(db)
    .deleteFrom('hook_call')
    .where(inPart(part))
    .where('created_at', '<', before)
    .execute()
}
