import type { ArchiveRules, CoreTables, Placements } from '@remit/core/db'
import type { Migration } from 'kysely/migration'
import { agentMigration } from './agents.ts'
import type { AgentTables } from './agents.ts'
import { credentialMigration, useOfOrganizationMigration } from './credentials.ts'
import type { CredentialTables } from './credentials.ts'
import { issuerMigration } from './issuers.ts'
import type { IssuerTables } from './issuers.ts'
import { loginMigration } from './login.ts'
import type { LoginTables } from './login.ts'
import { peopleMigration, personAddressMigration } from './people.ts'
import type { PeopleTables } from './people.ts'
import { trustMigration } from './trust.ts'
import type { TrustTables } from './trust.ts'

/** Rows of this module's tables. */
export type Tables = CoreTables &
  AgentTables &
  CredentialTables &
  IssuerTables &
  LoginTables &
  PeopleTables &
  TrustTables

export const migrations: Readonly<Record<string, Migration>> = {
  '0001_agents': agentMigration,
  '0002_credentials': credentialMigration,
  '0003_issuers': issuerMigration,
  '0004_trust': trustMigration,
  '0005_people': peopleMigration,
  '0006_person_addresses': personAddressMigration,
  '0007_login_provider': loginMigration,
  '0008_use_of_organization': useOfOrganizationMigration,
}

/** The placement of this module's tables on a cluster. */
export const placements: Placements<Omit<Tables, keyof CoreTables>> = {
  agent: 'by org_id',
  agent_subject: 'by org_id',
  agent_credential: 'by org_id, ids in the directory',
  credential_use: 'by org_id',
  trusted_issuer: 'by org_id',
  issuer_audience: 'by org_id',
  token_use: 'by org_id',
  person: 'by org_id',
  person_address: 'by org_id',
  trust_policy: 'by org_id',
  login_provider: 'by org_id',
  login_domain: 'by org_id',
}

/** The columns of this module's tables that the archive of an organization contains. */
export const archive: ArchiveRules<Omit<Tables, keyof CoreTables>> = {
  agent: 'whole',
  agent_subject: 'whole',
  agent_credential: { without: ['hash', 'hash_scheme'] },
  credential_use: 'whole',
  trusted_issuer: 'whole',
  issuer_audience: 'whole',
  token_use: 'none',
  person: 'whole',
  person_address: 'none',
  trust_policy: 'whole',
  login_provider: { without: ['secret'] },
  login_domain: 'whole',
}
