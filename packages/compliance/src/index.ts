import { setImmediate } from 'node:timers/promises'
import { defineModule } from '@remit/core'
import { replay } from './preview/replay.ts'
import { previewRoutes } from './preview/routes.ts'
import type { Replays } from './preview/routes.ts'
import { migrations } from './schema.ts'

export default defineModule({
  name: 'compliance',
  migrations,
  setup: (deps) => {
    const here: Replays = {
      replay: (orgId, task) => replay(deps.db, orgId, task, () => setImmediate()),
    }
    return { routes: [...previewRoutes(deps, here)] }
  },
})
