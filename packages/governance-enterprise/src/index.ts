import { defineModule } from '@remit/core'
import { agentStage, agentSwitch } from './agents/stop.ts'
import { authorizeRoutes } from './authorize/routes.ts'
import { ledgerRoutes } from './ledger/routes.ts'
import { organizationRoutes } from './organization/routes.ts'
import { migrations } from './schema.ts'
import { httpSpendSource } from './spend/http-source.ts'
import { measureWith } from './spend/measure.ts'
import { spendRoutes } from './spend/routes.ts'
import { spendStage } from './spend/stage.ts'

export default defineModule({
  name: 'governance',
  migrations,
  setup: (deps) => {
    const { spendUrl, spendDeadlineMs } = deps.settings
    const measure =
      spendUrl === undefined ? null : measureWith(httpSpendSource(spendUrl), spendDeadlineMs)
    return {
      routes: [
        ...authorizeRoutes(deps),
        ...ledgerRoutes(deps),
        ...organizationRoutes(deps),
        ...spendRoutes(deps),
      ],
      stages: { agent_deny: agentStage as never, spend_limit: spendStage(measure) as never },
      provides: { agentSwitch: agentSwitch(deps) },
    }
  },
})
