import { inPart, on } from '@remit/core/db'
import type { AnyDatabase, Part } from '@remit/core/db'
import type { HookCallRow } from '../tables/hooks.ts'
import type { Tables } from '../tables/schema.ts'
import type { CallKeys } from './tool-hook.ts'

/** Hashes, which name the other calls, have no dot. */
const PROMPT = 'prompt.'

/** The name of an allow that was given to a permission prompt, until the outcome names its call. */
export const promptKey = (decisionId: string): string => `${PROMPT}${decisionId}`

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
          .where('call_key', 'not like', `${PROMPT}%`)
          .orderBy('created_at', 'desc')
          .limit(1)
  ).executeTakeFirst()
}

/** Gives the oldest allow of a permission prompt about this input to the call that has run: once. */
export const takePrompt = (
  db: AnyDatabase,
  orgId: string,
  { call, input }: CallKeys,
): Promise<HookCallRow | undefined> =>
  on<Tables>(db)
    .updateTable('hook_call')
    .set({ call_key: call })
    .where('org_id', '=', orgId)
    .where('call_key', '=', (one) =>
      one
        .selectFrom('hook_call')
        .select('call_key')
        .where('org_id', '=', orgId)
        .where('input_key', '=', input)
        .where('call_key', 'like', `${PROMPT}%`)
        .orderBy('created_at')
        .limit(1),
    )
    .returningAll()
    .executeTakeFirst()

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
