import { invalidCursor } from './page.ts'

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
