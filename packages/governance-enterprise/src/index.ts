import { defineModule } from '@remit/core/module'
import { rosterReader } from './agents/agents.ts'
import { agentStage } from './delegation/stage.ts'
import { agentSwitch } from './agents/stop.ts'
import { approvalsOf } from './approvals/index.ts'
import { authorizeRoutes, keyRoutes, organizationRoutes } from './endpoints.ts'
import { authzenRoutes } from './authzen/routes.ts'
import { budgetRoutes } from './budgets/routes.ts'
import { budgetReader, treeLoader } from './budgets/store.ts'
import { delegationRoutes } from './delegation/routes.ts'
import { guardChecks } from './guard/checks.ts'
import { GuardCounts } from './guard/counts.ts'
import { HostCalls } from './hooks/calls.ts'
import { Questions } from './hooks/once.ts'
import { hookRoutes } from './hooks/routes.ts'
import { toolDecisions } from './hooks/tool-decisions.ts'
import { inventoryRoutes } from './inventory/routes.ts'
import { appender } from './ledger/appender.ts'
import { ledgerRoutes } from './ledger/routes.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { driftObserver } from './policy-sets/drift.ts'
import { fourEyesObserver } from './policy-sets/four-eyes.ts'
import { documentKinds } from './policy-sets/kinds.ts'
import { policySetRoutes } from './policy-sets/routes.ts'
import { policyRoutes } from './policies/routes.ts'
import { policyStage } from './policies/stage.ts'
import { readCounters } from './counters/store.ts'
import { conditions } from './rules/port.ts'
import { archive, migrations, placements } from './tables/schema.ts'
import { scorersOf } from './scorers/index.ts'
import { budgetEraser } from './budgets/erase.ts'
import { createSampler } from './budgets/samples.ts'
import { httpSpendSource, measureWith } from './budgets/measure.ts'
import { spendAccounts } from './budgets/rebuild.ts'
import { spendRoutes } from './budgets/limit-routes.ts'
import { spendStage } from './budgets/stage.ts'
import { ruleTrials } from './rule-trial/port.ts'
import { sinksOf } from './sinks/index.ts'
import { sinkSecrets } from './sinks/store.ts'
import { webhooksOf } from './webhooks/index.ts'
import { webhookSecrets } from './webhooks/webhooks-store.ts'

export default defineModule({
  name: 'governance',
  migrations,
  placements,
  archive,
  setup: (deps) => {
    const { spendUrl, spendDeadlineMs } = deps.settings
    const spendFailed = deps.metrics.counter(
      'remit_spend_source_failures_total',
      'Requests to REMIT_SPEND_URL without a usable answer',
      [],
    )
    const measure =
      spendUrl === undefined
        ? null
        : measureWith(httpSpendSource(spendUrl), spendDeadlineMs, spendFailed)
    const approvals = approvalsOf(deps)
    const append = appender(deps)
    const questions = new Questions()
    const tools = toolDecisions(deps, approvals.waits, questions)
    const hostCalls = new HostCalls({ ...deps, tools, append, questions })
    const webhooks = webhooksOf(deps)
    const sinks = sinksOf(deps)
    const scorers = scorersOf(deps)
    const guardCounts = new GuardCounts(deps)
    const spendSampler = createSampler(deps)
    return {
      routes: [
        ...approvals.routes,
        ...authorizeRoutes(deps),
        ...ledgerRoutes(deps, append),
        ...organizationRoutes(deps),
        ...keyRoutes(deps),
        ...authzenRoutes(deps),
        ...spendRoutes(deps),
        ...budgetRoutes(deps, treeLoader(deps)),
        ...policyRoutes(deps),
        ...policySetRoutes(deps),
        ...delegationRoutes(deps),
        ...mcpRoutes(deps),
        ...hookRoutes(hostCalls),
        ...inventoryRoutes(deps),
        ...webhooks.routes,
        ...sinks.routes,
      ],
      stages: {
        agent_deny: agentStage(rosterReader(deps)),
        spend_limit: spendStage(measure, budgetReader(deps)),
        policy: policyStage(),
        approval_rule: approvals.stage,
      },
      scorers: scorers.scorers,
      scorerRuns: scorers.scorerRuns,
      guardChecks: guardChecks(deps, guardCounts),
      observers: [...approvals.observers, ...webhooks.observers],
      changeObservers: [fourEyesObserver(deps), driftObserver(deps)],
      documents: documentKinds(rosterReader(deps), deps),
      erasers: [...approvals.erasers, budgetEraser(treeLoader(deps))],
      storedSecrets: [webhookSecrets(deps), sinkSecrets(deps)],
      start() {
        approvals.start()
        webhooks.start()
        sinks.start()
        scorers.start()
        spendSampler.start()
        guardCounts.start()
      },
      settle: () => guardCounts.settle(),
      async close() {
        await spendSampler.close()
        await scorers.close()
        await sinks.close()
        await webhooks.close()
        await approvals.close()
      },
      provides: {
        agentSwitch: agentSwitch(deps),
        conditions,
        counters: { read: readCounters },
        ruleTrials: ruleTrials(deps),
        spendAccounts: spendAccounts(deps),
        toolDecisions: tools,
      },
    }
  },
})
