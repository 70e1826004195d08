import { agents } from './agents.ts'
import { approvals } from './approvals.ts'
import { authorize } from './authorize.ts'
import { authzen } from './authzen.ts'
import { budgets } from './budgets.ts'
import { compliance } from './compliance.ts'
import { credentials } from './credentials.ts'
import { delegation } from './delegation.ts'
import { dryRun } from './dry-run.ts'
import type { Endpoint } from './endpoint.ts'
import { guard } from './guard.ts'
import { hooks } from './hooks.ts'
import { inventory } from './inventory.ts'
import { issuers } from './issuers.ts'
import { keys } from './keys.ts'
import { ledger } from './ledger.ts'
import { loginProvider } from './login-provider.ts'
import { mcpTools } from './mcp-tools.ts'
import { organization } from './organization.ts'
import { people } from './people.ts'
import { policies } from './policies.ts'
import { policySets } from './policy-sets.ts'
import { scorers } from './scorers.ts'
import { session } from './session.ts'
import { spendLimits } from './spend-limits.ts'
import { stats, usage } from './stats.ts'
import { token } from './token.ts'
import { trust } from './trust.ts'
import { verifyLedger } from './verify-ledger.ts'
import { webhooks } from './webhooks.ts'
import { sinks } from './sinks.ts'

/** The whole API: every endpoint of every edition, by name. */
export const contract = {
  ...authorize,
  ...ledger,
  ...policies,
  ...policySets,
  ...spendLimits,
  ...budgets,
  ...stats,
  ...usage,
  ...delegation,
  ...approvals,
  ...organization,
  ...keys,
  ...people,
  ...loginProvider,
  ...agents,
  ...credentials,
  ...trust,
  ...issuers,
  ...token,
  ...webhooks,
  ...sinks,
  ...authzen,
  ...hooks,
  ...mcpTools,
  ...inventory,
  ...session,
  ...scorers,
  ...guard,
  ...compliance,
  ...dryRun,
  ...verifyLedger,
}

export type Contract = typeof contract
export type EndpointName = keyof Contract

/** The same table for iteration. */
export const endpoints: Readonly<Record<string, Endpoint>> = contract
