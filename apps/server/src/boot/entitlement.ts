import type { KeyObject } from 'node:crypto'
import type { Plan } from '@remit/contract'
import { hasTable, migrationTables } from '@remit/core/db/open'
import type { AnyDatabase } from '@remit/core/db'
import type { Module } from '@remit/core/module'
import type { LicensePeriod } from '@remit/core/server'
import { ConfigError, isPostgres } from '../settings/environment.ts'
import type { Config } from '../settings/config.ts'
import { checkLicense, graceEndOf, LICENSE_CONTACT, vendorKey } from '../settings/license.ts'
import type { License } from '../settings/license.ts'
import { hasModules, loadModules, MODULE_NAMES } from './modules.ts'

/** The permitted modules of this start, with the reason. */
export interface Entitlement {
  readonly modules: readonly Module[]
  /** The highest plan of any organization. */
  readonly planCeiling: Plan
  readonly newPlan: Plan
  /** Each organization has a plan of its own, with the limits of that plan. */
  readonly hosted: boolean
  readonly edition: 'community' | 'enterprise'
  readonly evaluation: boolean
  /** The license by which modules are loaded. */
  readonly license: (License & LicensePeriod) | null
  /** One line for the operator. */
  readonly notice: string
}

/**
 * Decides which modules are loaded: by license, by evaluation mode, or none. An invalid license
 * loads none; no network access.
 */
export async function entitle(
  config: Config,
  now: number,
  licenseKey: KeyObject = vendorKey(),
): Promise<Entitlement> {
  if (config.REMIT_EDITION === 'community')
    return community('Community edition: REMIT_EDITION=community.')
  if (!hasModules()) return community('Community edition: no commercial module is installed.')
  const token = config.REMIT_LICENSE_KEY
  const check = token === undefined ? null : await checkLicense(token, licenseKey, now)
  if (check && 'license' in check) return licensed(check.license, now)
  if (config.REMIT_EVALUATION) return evaluation(check?.refused)
  return community(
    check
      ? `Commercial modules are not loaded: ${check.refused}.`
      : 'Commercial modules are not loaded: REMIT_LICENSE_KEY is not set (REMIT_EVALUATION=1 to try them).',
  )
}

// The plan is stored, but has no effect without a license.
const community = (notice: string): Entitlement => ({
  modules: [],
  planCeiling: 'free',
  newPlan: 'enterprise',
  hosted: false,
  edition: 'community',
  evaluation: false,
  license: null,
  notice,
})

/**
 * Refuses the start of a server that would leave agents without decisions: as the community edition
 * where `REMIT_EDITION` asks for another, or on a database that commercial modules have used. Throws `ConfigError`.
 */
export async function refuseCommunity(
  { REMIT_EDITION: wanted }: Config,
  { edition, notice }: Entitlement,
  db: AnyDatabase,
): Promise<void> {
  if (edition === 'enterprise' || wanted === 'community') return
  if (wanted === 'enterprise')
    throw new ConfigError(`REMIT_EDITION is enterprise, and this start is not. ${notice} ${REMEDY}`)
  for (const module of MODULE_NAMES) {
    if (await hasTable(db, migrationTables({ name: module })[0]))
      throw new ConfigError(
        `The database has the data of commercial modules. ${notice} ${REMEDY} REMIT_EDITION=community starts without them: agents then get no decisions.`,
      )
  }
}

const REMEDY = `Set REMIT_LICENSE_KEY (licenses: ${LICENSE_CONTACT}), or REMIT_EVALUATION=1 to evaluate.`

async function licensed(license: License, now: number): Promise<Entitlement> {
  const { customer, plan, hosted, expiresAt } = license
  const graceEndsAt = graceEndOf(license)
  const until =
    now < Date.parse(expiresAt)
      ? `until ${expiresAt}`
      : `expired at ${expiresAt}, in its grace period until ${graceEndsAt}`
  return {
    modules: await loadModules(),
    planCeiling: hosted ? 'enterprise' : plan,
    newPlan: hosted ? 'free' : 'enterprise',
    hosted,
    edition: 'enterprise',
    evaluation: false,
    license: { ...license, graceEndsAt },
    notice: `Enterprise edition: licensed to ${customer}, plan ${hosted ? 'by organization' : plan}, ${until}.`,
  }
}

/**
 * Throws `ConfigError` for the database password of deploy/compose.yaml, which is for evaluations. Without a
 * license to evaluate, `REMIT_EVALUATION` alone says that a server is for one.
 */
export function refuseKnownPassword(
  { REMIT_DATABASE_URL: url, REMIT_EVALUATION }: Config,
  edition: Entitlement['edition'],
): void {
  if (edition === 'community' && REMIT_EVALUATION) return
  if (isPostgres(url) && new URL(url).password === 'evaluation-only')
    throw new ConfigError(
      'REMIT_DATABASE_URL has the password for evaluations, which everybody knows: set POSTGRES_PASSWORD for deploy/compose.yaml, and change the password in the database',
    )
}

async function evaluation(refused: string | undefined): Promise<Entitlement> {
  const why = refused === undefined ? '' : ` (${refused})`
  return {
    modules: await loadModules(),
    planCeiling: 'enterprise',
    newPlan: 'enterprise',
    hosted: false,
    edition: 'enterprise',
    evaluation: true,
    license: null,
    notice: `Evaluation: every module is loaded without a license${why}. Not for production.`,
  }
}
