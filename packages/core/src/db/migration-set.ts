import type { Migration } from 'kysely/migration'
import type { Placements } from './distributed.ts'

export interface MigrationSet {
  /**
   * Name of the module. Each has its own migration table, so a later installation does not affect
   * other modules.
   */
  readonly name: string
  readonly migrations: Readonly<Record<string, Migration>>
  /** The placement of every table of the module on a cluster. */
  readonly placements?: Placements
}

/** The tables in which migrations of a set are recorded. */
export const migrationTables = ({ name }: Pick<MigrationSet, 'name'>): [string, string] => [
  `migration_${name}`,
  `migration_${name}_lock`,
]

export const migrationSetsOf = (
  modules: readonly {
    readonly name: string
    readonly migrations?: MigrationSet['migrations']
    readonly placements?: MigrationSet['placements']
  }[],
): MigrationSet[] =>
  modules.flatMap(({ name, migrations, placements = {} }) =>
    migrations ? [{ name, migrations, placements }] : [],
  )
