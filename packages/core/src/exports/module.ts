export type { GuardCheckMade, GuardChecks } from '../guard/checked.ts'
export { defineModule } from '../module/module.ts'
export type {
  Module,
  Contribution,
  Deps,
  Settings,
  CheckpointBucket,
  OidcSettings,
  SmtpSettings,
  UsageSinkSettings,
  JudgesSource,
} from '../module/module.ts'
export type {
  Ports,
  Replays,
  UsageCounts,
  SpendAccounts,
  SpendComparison,
  AgentSwitch,
  AgentRegistry,
  RegisteredAgent,
  ConditionVariables,
  Conditions,
  CompiledCondition,
  ConditionFacts,
  RuleTrials,
  OpenTrial,
  RuleTrial,
  TrialVerdict,
  Compliance,
  OnProgress,
} from '../module/ports.ts'
export type {
  AdmittedDocument,
  DocumentChange,
  DocumentKind,
  DocumentLimit,
  DocumentObject,
} from '../module/documents.ts'
export { SettingError } from '../module/ports.ts'
export type { StoredSecrets } from '../module/stored-secrets.ts'
export type { FinishedRun, ScorerRuns } from '../scorers/run.ts'
