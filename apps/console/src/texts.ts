import { agents } from './texts/agents.ts'
import { approvalRules } from './texts/approval-rules.ts'
import { approvals } from './texts/approvals.ts'
import { common } from './texts/common.ts'
import { decisions } from './texts/decisions.ts'
import { firstSteps } from './texts/first-steps.ts'
import { issuers } from './texts/issuers.ts'
import { ledger } from './texts/ledger.ts'
import { live } from './texts/live.ts'
import { login } from './texts/login.ts'
import { mcpTools } from './texts/mcp-tools.ts'
import { nav } from './texts/nav.ts'
import { playground } from './texts/playground.ts'
import { policies } from './texts/policies.ts'
import { reports } from './texts/reports.ts'
import { search } from './texts/search.ts'
import { settings } from './texts/settings.ts'
import { shell } from './texts/shell.ts'
import { shortcuts } from './texts/shortcuts.ts'
import { spend } from './texts/spend.ts'
import { verify } from './texts/verify.ts'

/** Every text of the console, by page. Pages hold no English of their own. */
export const t = {
  product: 'Remit',
  common,
  shell,
  nav,
  shortcuts,
  login,
  ledger,
  decisions,
  search,
  firstSteps,
  verify,
  approvals,
  policies,
  approvalRules,
  live,
  spend,
  agents,
  issuers,
  mcpTools,
  reports,
  playground,
  settings,
} as const
