import { coreMigrations } from './db/core-migrations.ts'
import { guardRoutes } from './guard/routes.ts'
import { defineModule } from './module/module.ts'
import { builtInScorers } from './scorers/catalogue.ts'

/** What every edition has: tables, scorers and the guard. */
export const coreModule = defineModule({
  name: 'core',
  migrations: coreMigrations,
  setup: () => ({ routes: guardRoutes(), scorers: builtInScorers }),
})
