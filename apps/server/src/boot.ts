import type { KeyObject } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Plan } from '@remit/contract'
import { createLedgerSigner, loadLedgerKey, openDatabase, randomIds, systemClock } from '@remit/core'
import type { Clock, CoreTables, Database, LedgerSigner, Module, RemitOptions } from '@remit/core'
import { pino } from 'pino'
import type { Logger } from 'pino'
import { ConfigError } from './config.ts'
import type { Config } from './config.ts'
import { checkLicense, vendorKey } from './license.ts'
import { hasModules, loadModules } from './modules.ts'
import { VERSION } from './version.ts'

/** What this start may load, and why. */
export interface Entitlement {
  readonly modules: readonly Module[]
  readonly planCeiling: Plan
  readonly edition: 'community' | 'enterprise'
  readonly evaluation: boolean
  /** One line for the operator. */
  readonly notice: string
}

export interface BootOptions {
  /** The vendor's public key; tests pass their own. */
  readonly licenseKey?: KeyObject
  readonly clock?: Clock
  readonly log?: Logger
}

/** Decides which modules are loaded: by licence, by evaluation, or none. */
export async function entitle(config: Config, options: BootOptions = {}): Promise<Entitlement> {
  const community = (notice: string): Entitlement => ({ modules: [], planCeiling: 'free', edition: 'community', evaluation: false, notice })
  if (!hasModules()) return community('Community edition: no commercial module is installed.')
  const enterprise = { edition: 'enterprise', modules: await loadModules() } as const
  if (config.REMIT_LICENSE_KEY !== undefined) {
    const now = (options.clock ?? systemClock).now()
    const check = await checkLicense(config.REMIT_LICENSE_KEY, options.licenseKey ?? vendorKey(), now)
    if ('license' in check) {
      const { customer, plan, hosted, expiresAt } = check.license
      const notice = `Enterprise edition: licensed to ${customer}, plan ${hosted ? 'by organization' : plan}, until ${expiresAt}.`
      return { ...enterprise, planCeiling: hosted ? 'enterprise' : plan, evaluation: false, notice }
    }
    if (!config.REMIT_EVALUATION) return community(`Commercial modules are not loaded: ${check.refused}.`)
  }
  if (config.REMIT_EVALUATION) {
    return { ...enterprise, planCeiling: 'enterprise', evaluation: true, notice: 'Evaluation: every module is loaded without a licence. Not for production.' }
  }
  return community('Commercial modules are not loaded: REMIT_LICENSE_KEY is not set (REMIT_EVALUATION=1 to try them).')
}

/** The ledger's signing key: of the configured file, else beside the SQLite database. */
export function openSigner(config: Config, mayCreate: boolean): LedgerSigner {
  const path = config.REMIT_LEDGER_KEY_FILE ?? defaultKeyFile(config.REMIT_DATABASE_URL)
  if (!mayCreate && !existsSync(path)) {
    throw new ConfigError(`REMIT_LEDGER_KEY_FILE: there is no key in ${path}; make one with \`remit ledger keygen ${path}\``)
  }
  return createLedgerSigner(loadLedgerKey(path, mayCreate))
}

function defaultKeyFile(databaseUrl: string): string {
  const folder = databaseUrl.startsWith('sqlite:') ? dirname(databaseUrl.slice('sqlite:'.length)) : './data'
  return join(folder, 'ledger-key.pem')
}

/** Everything the product needs, from the settings. */
export async function bootOptions(config: Config, options: BootOptions = {}): Promise<RemitOptions & { readonly notice: string }> {
  const entitlement = await entitle(config, options)
  const log = options.log ?? pino({ level: config.REMIT_LOG_LEVEL, base: null, timestamp: pino.stdTimeFunctions.isoTime })
  const db: Database<CoreTables> = openDatabase(config.REMIT_DATABASE_URL, {
    onConnectionError: (error) => log.warn({ err: error }, 'an idle database connection broke'),
  })
  return {
    ...entitlement,
    db,
    log,
    signer: openSigner(config, entitlement.evaluation || entitlement.edition === 'community'),
    clock: options.clock ?? systemClock,
    ids: randomIds,
    version: VERSION,
    rateLimit: config.REMIT_RATE_LIMIT,
    metricsApart: config.REMIT_METRICS_PORT !== undefined,
    settings: {
      edition: entitlement.edition,
      spendDeadlineMs: config.REMIT_SPEND_DEADLINE_MS,
      ...(config.REMIT_SPEND_URL !== undefined && { spendUrl: config.REMIT_SPEND_URL }),
    },
    warnings: config.REMIT_ALLOW_LOOPBACK_TARGETS ? ['REMIT_ALLOW_LOOPBACK_TARGETS=1: for development and tests only'] : [],
  }
}
