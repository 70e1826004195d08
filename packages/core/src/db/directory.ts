import { sql } from 'kysely'
import { isDistributed } from './distributed.ts'
import { on, statement } from './portable.ts'
import type { AnyDatabase } from './portable.ts'

/**
 * Tables of a distributed database, on the coordinator: the organization of each key and
 * credential, and the names of organizations. Only they are read before the organization, and so
 * its node, is known. Rows are never changed, so a copy on another node cannot contradict them.
 */
export type DirectoryTables = {
  directory_key: { id: string; org_id: string }
  directory_organization: { id: string; name: string }
}

const keyPlace = statement<{ org_id: string }>('select org_id from directory_key where id = ?')

/** Returns the organization of a key or credential; undefined if there is none. */
export const organizationOfId = async (db: AnyDatabase, id: string): Promise<string | undefined> =>
  (await keyPlace(db, [id]))[0]?.org_id

/** Records the organization of a new key or credential, on a distributed database. */
export async function recordId(tx: AnyDatabase, id: string, orgId: string): Promise<void> {
  if (!(await isDistributed(tx))) return
  await on<DirectoryTables>(tx).insertInto('directory_key').values({ id, org_id: orgId }).execute()
}

/** Records a new organization, on a distributed database; its name must not be in use. */
export async function recordOrganization(
  tx: AnyDatabase,
  organization: { readonly id: string; readonly name: string },
): Promise<void> {
  if (!(await isDistributed(tx))) return
  const { id, name } = organization
  await on<DirectoryTables>(tx).insertInto('directory_organization').values({ id, name }).execute()
}

/** Returns the id of the organization with this id or name, on a distributed database. */
export async function namedOrganization(
  db: AnyDatabase,
  idOrName: string,
): Promise<string | undefined> {
  const row = await on<DirectoryTables>(db)
    .selectFrom('directory_organization')
    .select('id')
    .where((where) => where.or([where('id', '=', idOrName), where('name', '=', idOrName)]))
    .executeTakeFirst()
  return row?.id
}

/** Creates the tables of the directory and fills them from the tables with these ids. */
export async function createDirectory(tx: AnyDatabase, tables: readonly string[]): Promise<void> {
  const text = sql`text collate "C"`
  await sql`create table directory_key (
    id ${text} primary key, org_id ${text} not null)`.execute(tx)
  await sql`create table directory_organization (
    id ${text} primary key, name ${text} not null unique)`.execute(tx)
  for (const table of tables)
    await sql`insert into directory_key (id, org_id)
      select id, org_id from ${sql.table(table)}`.execute(tx)
  await sql`insert into directory_organization (id, name)
    select id, name from organization`.execute(tx)
}
