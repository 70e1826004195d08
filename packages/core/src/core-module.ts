import { coreMigrations } from './db/core-migrations.ts'
import { defineModule } from './module/module.ts'
import { builtInScorers } from './scorers/catalogue.ts'

/** What every edition has: tables and scorers. The guard's route comes when all modules are known. */
export const coreModule = defineModule({
  name: 'core',
  migrations: coreMigrations,
  setup: () => ({ scorers: builtInScorers }),
})
