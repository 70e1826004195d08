import type { CoreTables } from '@remit/core'
import type { Migration } from 'kysely/migration'
import { agentMigration } from './agents/schema.ts'
import type { AgentTables } from './agents/schema.ts'
import { credentialMigration } from './credentials/schema.ts'
import type { CredentialTables } from './credentials/schema.ts'
import { issuerMigration } from './issuers/schema.ts'
import type { IssuerTables } from './issuers/schema.ts'
import { trustMigration } from './trust/schema.ts'
import type { TrustTables } from './trust/schema.ts'

/** Rows of this module's tables. */
export type Tables = CoreTables & AgentTables & CredentialTables & IssuerTables & TrustTables

export const migrations: Readonly<Record<string, Migration>> = {
  '0001_agents': agentMigration,
  '0002_credentials': credentialMigration,
  '0003_issuers': issuerMigration,
  '0004_trust': trustMigration,
}
