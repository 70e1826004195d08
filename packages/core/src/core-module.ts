import { coreMigrations } from './db/core-migrations.ts'
import { coreArchive, corePlacements } from './db/schema.ts'
import { defineModule } from './module/module.ts'
import { builtInScorers } from './scorers/catalogue.ts'

/**
 * The parts of every edition: tables and scorers. The route of the guard is added when all modules
 * are known.
 */
export const coreModule = defineModule({
  name: 'core',
  migrations: coreMigrations,
  placements: corePlacements,
  archive: coreArchive,
  setup: () => ({ scorers: builtInScorers }),
})
