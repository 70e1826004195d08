import { defineModule } from '@remit/core/module'
import type { AgentRegistry } from '@remit/core/module'
import { resumeAgent, suspendAgent } from './agents/changes.ts'
import { LiveAgents } from './agents/live-agents.ts'
import { agentRoutes } from './agents/routes.ts'
import { Directory } from './credentials/directory.ts'
import { Hasher } from './credentials/hasher.ts'
import { refusedImpersonations } from './credentials/impersonations.ts'
import { credentialRoutes } from './credentials/routes.ts'
import { Refusals } from './exchange/refusals.ts'
import { exchangeRoutes } from './exchange/routes.ts'
import { IssuerKeys, recordKeyFetch } from './issuers/keys.ts'
import { issuerRoutes } from './issuers/routes.ts'
import { peopleOf } from './login/index.ts'
import { loginSecrets } from './login/own/store.ts'
import { archive, migrations, placements } from './tables/schema.ts'
import { trustDocuments, trustRoutes } from './trust/routes.ts'

export default defineModule({
  name: 'identity',
  migrations,
  placements,
  archive,
  setup: (deps) => {
    const live = new LiveAgents()
    const agentRegistry: AgentRegistry = {
      load: (orgId, tx) => live.load(orgId, tx),
      suspend: suspendAgent,
      resume: resumeAgent,
    }
    const hasher = new Hasher(deps.settings.credentialPeppers)
    const directory = new Directory(deps, hasher)
    const issuerKeys = new IssuerKeys(deps, recordKeyFetch(deps))
    const refusals = new Refusals(deps)
    const people = peopleOf(deps)
    return {
      documents: [trustDocuments(deps)],
      routes: [
        ...agentRoutes(deps),
        ...credentialRoutes(deps, directory, hasher),
        ...trustRoutes(deps),
        ...issuerRoutes(deps, issuerKeys),
        ...exchangeRoutes({ ...deps, hasher }, issuerKeys, refusals),
        ...people.routes,
      ],
      consolePages: people.consolePages,
      storedSecrets: [loginSecrets(deps)],
      provides: {
        agentRegistry,
        credentials: directory,
        people: people.people,
        impersonations: refusedImpersonations(deps),
      },
      start() {
        directory.start()
        refusals.start()
      },
      async close() {
        await refusals.close()
        await directory.close()
      },
    }
  },
})
