import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import { visitAll } from '../base/visit-all.ts'
import type { DirectoryTables } from './directory.ts'
import { isDistributed } from './distributed.ts'
import { on } from './portable.ts'
import type { AnyDatabase } from './portable.ts'

/**
 * A part of the database for work across organizations: an organization, or null for all at once.
 */
export type Part = string | null

/** Organizations of a distributed database that are visited at the same time. */
export const ORGANIZATIONS_AT_ONCE = 4

/**
 * Runs work on every part and returns the results. On a distributed database the parts are the
 * organizations: those on a lost node fail alone, and `onError` gets the first error and all of
 * them.
 */
export async function eachPart<T>(
  db: AnyDatabase,
  work: (part: Part) => Promise<T>,
  onError: (error: unknown, organizations?: readonly string[]) => void,
): Promise<T[]> {
  if (!(await isDistributed(db))) return [await work(null)]
  const results: T[] = []
  const failed: string[] = []
  const errors: unknown[] = []
  await visitAll(await organizationIds(db), ORGANIZATIONS_AT_ONCE, async (id) => {
    try {
      results.push(await work(id))
    } catch (error) {
      failed.push(id)
      errors.push(error)
    }
  })
  if (failed.length > 0) onError(errors[0], failed)
  return results
}

/** The condition of a statement on a part. */
export const inPart = (part: Part, column = 'org_id'): RawBuilder<boolean> =>
  part === null ? sql<boolean>`1 = 1` : sql<boolean>`${sql.ref(column)} = ${part}`

/** Returns the ids of organizations, oldest first; `after`: those after an id. */
export async function organizationIds(
  db: AnyDatabase,
  { limit, after }: { readonly limit?: number; readonly after?: string } = {},
): Promise<string[]> {
  const table = (await isDistributed(db)) ? 'directory_organization' : 'organization'
  let query = on<Record<typeof table, DirectoryTables['directory_organization']>>(db)
    .selectFrom(table)
    .select('id')
    .orderBy('id')
  if (after !== undefined) query = query.where('id', '>', after)
  if (limit !== undefined) query = query.limit(limit)
  return (await query.execute()).map(({ id }) => id)
}
