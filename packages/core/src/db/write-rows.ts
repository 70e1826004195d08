import { CompiledQuery } from 'kysely'
import { LRUCache } from 'lru-cache'
import { isDistributed } from './distributed.ts'
import { commitWith } from './frequent-statements.ts'
import { dialectOf } from './portable.ts'
import type { AnyDatabase, Cell, Dialect } from './portable.ts'

export type ColumnTypes = Readonly<Record<string, 'text' | 'bigint'>>

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
 * with a parameter per column, SQLite statements of 1 to 4, 8 … 64 rows that stay prepared. A
 * distributed database gets rows of values: it can tell their node only from those. Several statements
 * for PostgreSQL are sent together, without waiting for the answer to each.
 */
export async function writeRows(db: AnyDatabase, inserts: readonly BulkInsert[]): Promise<void> {
  const queries = await queriesFor(db, inserts)
  if (queries.length === 0) return
  if (dialectOf(db) === 'sqlite') for (const query of queries) await db.executeQuery(query)
  else
    await db
      .getExecutor()
      .provideConnection((connection) =>
        Promise.all(queries.map((query) => connection.executeQuery(query))),
      )
}

/** `writeRows` for the last rows of a transaction: PostgreSQL gets them together with COMMIT. */
export async function writeLastRows(
  tx: AnyDatabase,
  inserts: readonly BulkInsert[],
): Promise<void> {
  if (dialectOf(tx) === 'sqlite') await writeRows(tx, inserts)
  else await commitWith(tx, await queriesFor(tx, inserts))
}

async function queriesFor(
  db: AnyDatabase,
  inserts: readonly BulkInsert[],
): Promise<CompiledQuery[]> {
  const queries: CompiledQuery[] = []
  const dialect = dialectOf(db)
  if (dialect === 'sqlite' || (await isDistributed(db))) {
    for (const insert of inserts) queries.push(...valuesQueries(insert, dialect))
    return queries
  }
  const waiting = inserts.filter(({ rows }) => rows.length > 0)
  while (waiting.length > 0) {
    // Parts of one statement do not see each other's rows, so each statement has a table only once.
    const turn = [...new Map(waiting.map((insert) => [insert.table, insert])).values()]
    for (const insert of turn) waiting.splice(waiting.indexOf(insert), 1)
    queries.push(postgresQuery(turn))
  }
  return queries
}

export const bulkInsert = (
  db: AnyDatabase,
  table: string,
  columns: ColumnTypes,
  rows: BulkInsert['rows'],
  suffix = '',
): Promise<void> => writeRows(db, [{ table, columns, rows, suffix }])

function postgresQuery(inserts: readonly BulkInsert[]): CompiledQuery {
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
  return CompiledQuery.raw(text, parameters)
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

/**
 * Rows of the next statement, with so many `left`. Few sizes, so that the texts repeat and stay
 * prepared. A message of PostgreSQL has at most 65,535 parameters.
 */
function sizeOf(left: number, cells: number, dialect: Dialect): number {
  if (left <= (dialect === 'postgres' ? 16 : 4)) return left
  const most = Math.min(left, dialect === 'sqlite' ? 64 : 65_535 / cells)
  return 2 ** Math.floor(Math.log2(most))
}

function valuesQueries(insert: BulkInsert, dialect: Dialect): CompiledQuery[] {
  const { columns, rows } = insert
  const names = Object.keys(columns)
  const queries: CompiledQuery[] = []
  for (let start = 0; start < rows.length;) {
    const size = sizeOf(rows.length - start, names.length, dialect)
    const cells: Cell[] = []
    for (const row of rows.slice(start, start + size))
      for (const name of names) cells.push(row[name] ?? null)
    queries.push(CompiledQuery.raw(valuesText(insert, names, size, dialect), cells))
    start += size
  }
  return queries
}

const MAX_TEXTS = 2_000
const texts = new LRUCache<string, string>({ max: MAX_TEXTS })

function valuesText(
  { table, suffix = '' }: BulkInsert,
  names: readonly string[],
  size: number,
  dialect: Dialect,
): string {
  const key = `${table} ${names.join()} ${size} ${dialect} ${suffix}`
  let text = texts.get(key)
  if (text === undefined) {
    const parameter = (number: number) => (dialect === 'sqlite' ? '?' : `$${number}`)
    const row = (at: number) =>
      `(${names.map((_, i) => parameter(at * names.length + i + 1)).join(', ')})`
    const rows = Array.from({ length: size }, (_, at) => row(at)).join(', ')
    text = `insert into ${table} (${names.join(', ')}) values ${rows} ${suffix}`
    texts.set(key, text)
  }
  return text
}
