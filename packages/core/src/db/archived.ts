/**
 * The columns of a table that the archive of an organization contains: all, none, or all without some.
 * Secrets, their hashes, caches and anything that can be computed again are left out.
 */
export type Archived = 'whole' | 'none' | { readonly without: readonly string[] }

/** The rule of each of these tables. */
export type ArchiveRules<Tables = Record<string, unknown>> = {
  readonly [Name in keyof Tables & string]: Archived
}
