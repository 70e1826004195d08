import { invalid } from './errors.ts'
import type { Failure } from './errors.ts'

/** A page of a list, as the API returns it. */
export interface Page<Item> {
  readonly data: Item[]
  /** The `cursor` of the next page; null on the last one. */
  readonly next_cursor: string | null
}

interface PageOptions<Row, Item> {
  /** Reads at most `limit` rows after the cursor of the request. */
  readonly read: (limit: number) => Promise<readonly Row[]> | readonly Row[]
  readonly cursor: (row: Row) => string
  /** The items of rows, one a row. */
  readonly items: (rows: readonly Row[]) => Promise<Item[]> | Item[]
}

/**
 * A page of at most `limit` items. It reads one row more, which tells whether a next page exists.
 *
 * @example
 * pageOf(query.limit, {
 *   read: (limit) => listRules(db, orgId, { limit, after: query.cursor }),
 *   cursor: ({ id }) => id,
 *   items: (rows) => rows.map(toPolicy),
 * })
 */
export async function pageOf<Row, Item>(
  limit: number,
  { read, cursor, items }: PageOptions<Row, Item>,
): Promise<Page<Item>> {
  const found = await read(limit + 1)
  const rows = found.slice(0, limit)
  const last = found.length > limit ? rows.at(-1) : undefined
  return { data: await items(rows), next_cursor: last ? cursor(last) : null }
}

/** The refusal of a `cursor` that no page returned. */
export const invalidCursor = (): Failure =>
  invalid('cursor', 'must be the next_cursor of an earlier response')

/** A position in a list that is ordered by creation time, then by id. */
export interface TimePlace {
  readonly created_at: string
  readonly id: string
}

/** The `next_cursor` after a row. */
export const cursorAfter = ({ created_at, id }: TimePlace): string => `${created_at}~${id}`

/** Parses a `cursor`; throws `invalid_request` if it is not valid. */
export function placeOf(cursor: string | undefined): TimePlace | null {
  if (cursor === undefined) return null
  const [, created_at, id] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)~([A-Za-z0-9._:@-]{1,128})$/.exec(cursor) ?? []
  if (created_at === undefined || id === undefined) throw invalidCursor()
  return { created_at, id }
}

/** The maximum number of organizations whose configuration a cache holds. */
export const MAX_CACHED_ORGS = 1_000

/**
 * Options of an `LRUCache` that holds up to so many entries and takes memory as it fills. With `max`
 * it takes the memory of all of them when it is created.
 */
export const upTo = (entries: number): { maxSize: number; sizeCalculation: () => number } => ({
  maxSize: entries,
  sizeCalculation: () => 1,
})
