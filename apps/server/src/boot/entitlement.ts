import type { KeyObject } from 'node:crypto'
import type { Plan } from '@remit/contract'
import type { Module } from '@remit/core'
import { ConfigError } from '../settings/config.ts'
import type { Config } from '../settings/config.ts'
import { isPostgres } from '../settings/environment.ts'
import { checkLicense, vendorKey } from '../settings/license.ts'
import type { License } from '../settings/license.ts'
import { hasModules, loadModules } from './modules.ts'

/** The permitted modules of this start, with the reason. */
export interface Entitlement {
  readonly modules: readonly Module[]
  /** The highest plan of any organization. */
  readonly planCeiling: Plan
  /** The default plan of a new organization. */
  readonly newPlan: Plan
  /** Each organization has a plan of its own, with the limits of that plan. */
  readonly hosted: boolean
  readonly edition: 'community' | 'enterprise'
  readonly evaluation: boolean
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
  if (!hasModules()) return community('Community edition: no commercial module is installed.')
  const token = config.REMIT_LICENSE_KEY
  const check = token === undefined ? null : await checkLicense(token, licenseKey, now)
  if (check && 'license' in check) return licensed(check.license)
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
  notice,
})

async function licensed({ customer, plan, hosted, expiresAt }: License): Promise<Entitlement> {
  return {
    modules: await loadModules(),
    planCeiling: hosted ? 'enterprise' : plan,
    newPlan: hosted ? 'free' : 'enterprise',
    hosted,
    edition: 'enterprise',
    evaluation: false,
    notice: `Enterprise edition: licensed to ${customer}, plan ${hosted ? 'by organization' : plan}, until ${expiresAt}.`,
  }
}

/** Throws `ConfigError` for the database password of deploy/compose.yaml, which is for evaluations. */
export function refuseKnownPassword({ REMIT_DATABASE_URL: url }: Config): void {
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
    notice: `Evaluation: every module is loaded without a license${why}. Not for production.`,
  }
}
