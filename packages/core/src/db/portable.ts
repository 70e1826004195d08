import { CompiledQuery, PostgresAdapter, sql } from 'kysely'
import type { Kysely, QueryExecutorProvider, QueryResult } from 'kysely'

export type Dialect = 'sqlite' | 'postgres'

/** A handle or transaction whose tables do not matter. */
export interface AnyDatabase extends QueryExecutorProvider {
  executeQuery<R>(query: CompiledQuery<R>): Promise<QueryResult<R>>
}

/** Returns the dialect of a handle or transaction. */
export const dialectOf = (db: AnyDatabase): Dialect =>
  db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite'

/**
 * Column types that differ between the dialects: text in byte order, 64-bit integers, and the
 * clause that stores small rows inside their primary key.
 */
export const column = (db: AnyDatabase) =>
  dialectOf(db) === 'postgres'
    ? { text: sql`text collate "C"`, integer: sql`bigint`, clustered: sql`` }
    : { text: sql`text`, integer: sql`integer`, clustered: sql`without rowid` }

export type ColumnTypes = Readonly<Record<string, 'text' | 'bigint'>>
type Cell = string | number | null

/**
 * Rows for one table. `suffix` may contain an `on conflict`; keys must be unique within the rows.
 */
export interface BulkInsert {
  readonly table: string
  readonly columns: ColumnTypes
  readonly rows: readonly Readonly<Record<string, Cell>>[]
  readonly suffix?: string
}

/**
 * Writes rows of several tables with as few round trips as possible: PostgreSQL gets one statement
 * with a parameter per column, SQLite statements of 1, 2, 4 … 64 rows that stay prepared.
 */
export async function writeRows(db: AnyDatabase, inserts: readonly BulkInsert[]): Promise<void> {
  const waiting = inserts.filter(({ rows }) => rows.length > 0)
  if (dialectOf(db) === 'sqlite') {
    for (const insert of waiting) await insertIntoSqlite(db, insert)
    return
  }
  while (waiting.length > 0) {
    // Parts of one statement do not see each other's rows, so each statement has a table only once.
    const turn = [...new Map(waiting.map((insert) => [insert.table, insert])).values()]
    for (const insert of turn) waiting.splice(waiting.indexOf(insert), 1)
    await insertIntoPostgres(db, turn)
  }
}

/** `writeRows` for one table. */
export const bulkInsert = (
  db: AnyDatabase,
  table: string,
  columns: ColumnTypes,
  rows: BulkInsert['rows'],
  suffix = '',
): Promise<void> => writeRows(db, [{ table, columns, rows, suffix }])

async function insertIntoPostgres(db: AnyDatabase, inserts: readonly BulkInsert[]): Promise<void> {
  const parameters: string[] = []
  const parts = inserts.map((insert) => {
    const { table, columns, suffix = '' } = insert
    const names = Object.keys(columns).join(', ')
    const source = asLines(insert, parameters) ?? asJson(insert, parameters)
    return `insert into ${table} (${names}) select ${names} from ${source} ${suffix}`
  })
  const last = parts.length - 1
  const others = parts.slice(0, last).map((part, i) => `w${i} as (${part})`)
  const text = `${others.length > 0 ? `with ${others.join(', ')} ` : ''}${parts[last]}`
  await db.executeQuery(CompiledQuery.raw(text, parameters))
}

/** Represents null in a column of lines. */
const NULL_LINE = '\u0001'

/**
 * Encodes rows as one parameter per column, one line per row, without escaping. Returns null if a
 * cell contains a line break, the null marker, or is a single empty text.
 */
function asLines({ columns, rows }: BulkInsert, parameters: string[]): string | null {
  const names = Object.keys(columns)
  const lines = names.map((name) => rows.map((row) => row[name] ?? NULL_LINE).join('\n'))
  const survives = names.every((name, i) => {
    const text = lines[i] ?? ''
    if (columns[name] === 'bigint') return true
    return text !== '' && !rows.some((row) => breaksLine(row[name]))
  })
  if (!survives) return null
  const first = parameters.length + 1
  parameters.push(...lines)
  const arrays = names.map((name, i) => {
    const array = `string_to_array($${first + i}, E'\\n', E'\\x01')`
    return columns[name] === 'bigint' ? `${array}::bigint[]` : array
  })
  return `unnest(${arrays.join(', ')}) as row(${names.join(', ')})`
}

const breaksLine = (cell: Cell | undefined): boolean =>
  typeof cell === 'string' && (cell.includes('\n') || cell === NULL_LINE)

function asJson({ columns, rows }: BulkInsert, parameters: string[]): string {
  parameters.push(JSON.stringify(rows))
  const shape = Object.entries(columns).map(([name, type]) => `${name} ${type}`)
  return `json_to_recordset($${parameters.length}) as row(${shape.join(', ')})`
}

async function insertIntoSqlite(db: AnyDatabase, insert: BulkInsert): Promise<void> {
  const { table, columns, rows, suffix = '' } = insert
  const names = Object.keys(columns)
  for (let start = 0; start < rows.length;) {
    const size = Math.min(64, 2 ** Math.floor(Math.log2(rows.length - start)))
    const cells: Cell[] = []
    for (const row of rows.slice(start, start + size)) {
      for (const name of names) cells.push(row[name] ?? null)
    }
    await db.executeQuery(CompiledQuery.raw(valuesText(table, names, size, suffix), cells))
    start += size
  }
}

const texts = new Map<string, string>()

function valuesText(table: string, names: readonly string[], size: number, suffix: string): string {
  const key = `${table} ${names.join()} ${size} ${suffix}`
  let text = texts.get(key)
  if (text === undefined) {
    const row = `(${names.map(() => '?').join(', ')})`
    text = `insert into ${table} (${names.join(', ')}) values ${Array(size).fill(row).join(', ')} ${suffix}`
    texts.set(key, text)
  }
  return text
}

/**
 * A statement with a constant text, for frequent queries: building one costs several times its
 * execution. `?` is a parameter.
 */
export function statement<Row>(
  text: string,
): (db: AnyDatabase, parameters: readonly Cell[]) => Promise<readonly Row[]> {
  let count = 0
  const numbered = text.replaceAll('?', () => `$${++count}`)
  return async (db, parameters) => {
    const own = dialectOf(db) === 'postgres' ? numbered : text
    return (await db.executeQuery<Row>(CompiledQuery.raw(own, [...parameters]))).rows
  }
}

/** Returns `tx`, typed for the tables of a module. */
export const on = <Tables>(db: AnyDatabase): Kysely<Tables> => db as unknown as Kysely<Tables>
