import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import type { DirectoryTables } from './directory.ts'
import { isDistributed } from './distributed.ts'
import { on } from './portable.ts'
import type { AnyDatabase } from './portable.ts'

/**
 * A part of the database for work across organizations: an organization, or null for all at once.
 */
export type Part = string | null

/** Organizations of a distributed database that are visited at the same time. */
const AT_ONCE = 4

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
  const waiting = await organizationIds(db)
  const results: T[] = []
  const failed: string[] = []
  const errors: unknown[] = []
  const visit = async () => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      try {
        results.push(await work(id))
      } catch (error) {
        failed.push(id)
        errors.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, visit))
  if (failed.length > 0) onError(errors[0], failed)
  return results
}

/** The condition of a statement on a part. */
export const inPart = (part: Part, column = 'org_id'): RawBuilder<boolean> =>
  part === null ? sql<boolean>`1 = 1` : sql<boolean>`${sql.ref(column)} = ${part}`

/** Returns the ids of all organizations. */
export async function organizationIds(db: AnyDatabase): Promise<string[]> {
  const table = (await isDistributed(db)) ? 'directory_organization' : 'organization'
  const rows = await on<Record<typeof table, DirectoryTables['directory_organization']>>(db)
    .selectFrom(table)
    .select('id')
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}
