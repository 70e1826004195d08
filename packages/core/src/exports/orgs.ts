export {
  OPERATOR,
  createKey,
  endKey,
  rotateKey,
  setPlan,
  changePlanAndLimits,
  setLimits,
  suspendOrganization,
  resumeOrganization,
  setSettings,
  updateSettings,
  settingsChange,
  findOrganizationById,
} from '../orgs/administration.ts'
export type { PlanChange, SettingsOptions } from '../orgs/administration.ts'
export { eraseEntries } from '../orgs/erase-entries.ts'
export type { Erasure } from '../orgs/erase-entries.ts'
export {
  allowsKeylessExchange,
  createOrganization,
  ORGANIZATION_NAME_RULE,
  isOrganizationName,
  findOrganization,
  organizationExists,
  organizationRecord,
  settingsWarnings,
} from '../orgs/organizations.ts'
export {
  DELETION_DAYS,
  deleteOrganization,
  exportConfiguration,
  findDeleted,
  listDeleted,
  scheduleDeletion,
} from '../orgs/deletion.ts'
export type { Deletion } from '../orgs/deletion.ts'
export { listOrganizations, organizationPage } from '../orgs/organizations.ts'
export { OPEN_DEFAULTS } from '../orgs/open-defaults.ts'
export type { NewOrganization, CreateOptions, OrganizationRecord } from '../orgs/organizations.ts'
export { fileArchive, finishPruning, planPruning, pruneLedger } from '../orgs/prune/index.ts'
export type { Pruned, PrunePlan, PruneQuestion, PruneStep, PruneUpTo } from '../orgs/prune/index.ts'
export { recoverLedger } from '../orgs/recover-ledger.ts'
export { rotateLedgerKey } from '../orgs/rotate-ledger-key.ts'
