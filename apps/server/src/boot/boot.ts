import type { KeyObject } from 'node:crypto'
import type { Plan } from '@remit/contract'
import { randomIds, systemClock } from '@remit/core/base'
import type { Clock } from '@remit/core/base'
import type { Database, WaitOptions } from '@remit/core/db/open'
import type { CoreTables } from '@remit/core/db'
import { consolePlace } from '@remit/core/keys'
import type { NewKey } from '@remit/core/keys'
import { createLedgerSigner } from '@remit/core/ledger/proofs'
import type { JudgesSource } from '@remit/core/module'
import { createOutbound } from '@remit/core/net'
import { PLAN_LIMITS } from '@remit/core/orgs/settings'
import { createOrganization } from '@remit/core/orgs'
import type { CreateOptions, NewOrganization } from '@remit/core/orgs'
import { createSecretBox } from '@remit/core/secrets'
import { createRemit } from '@remit/core/server'
import type { Remit } from '@remit/core/server'
import type { Tracer } from '@remit/core/telemetry'
import type { Logger } from 'pino'
import { oidcSettings, usageSinkSettings } from '../settings/config.ts'
import type { Config } from '../settings/config.ts'
import { consoleFiles } from './console-files.ts'
import { closeStorage, openStorage } from './database.ts'
import { entitle, refuseCommunity, refuseKnownPassword } from './entitlement.ts'
import type { Entitlement } from './entitlement.ts'
import { expiryNotice } from '../settings/license.ts'
import { openLedgerKey, checkpointBucket, witnessSettings } from '../settings/ledger-key.ts'
import { createLog } from './log.ts'
import { operatorKeysIn, readPepperFile, openSecretsKeys } from '../settings/secrets-key.ts'
import { VERSION } from '../settings/version.ts'
import { referencePages } from './reference-pages.ts'
import { prepareTables } from './tables.ts'

export interface BootOptions {
  /** The vendor's public key; tests pass their own. */
  readonly licenseKey?: KeyObject
  readonly clock?: Clock
  readonly log?: Logger
  /** `false` for a command: background work such as deliveries is left to servers. */
  readonly background?: boolean
  /** The models for the judge; none for a command. */
  readonly judges?: JudgesSource | undefined
  /** Waits for pending migrations with `REMIT_MIGRATE=check`; without it they are an error. */
  readonly wait?: (waiting: Waiting) => WaitOptions
  /** Records operations; none for a command. */
  readonly tracer?: Tracer | null
  /** Milliseconds between two checks of the ledgers; shorter in tests. */
  readonly watchEveryMs?: number
}

/** State of a server while migrations are pending. */
export interface Waiting {
  readonly config: Config
  readonly db: Database<CoreTables>
  readonly entitlement: Entitlement
  readonly log: Logger
  readonly warnings: () => readonly Warning[]
}

/** Warnings to the operator, for `/ready` and the log. */
export interface Warning {
  readonly level: 'warn' | 'error'
  readonly text: string
}

/** The product, as the server and the command line use it. */
export interface Booted {
  readonly config: Config
  readonly entitlement: Entitlement
  readonly remit: Remit
  readonly db: Database<CoreTables>
  readonly ledgerKey: KeyObject
  readonly clock: Clock
  readonly log: Logger
  /** Set when the server listens: without a base URL, the port is part of the console's address. */
  readonly listening: { port: number }
  /** Warnings to the operator, for `/ready` and the log. */
  readonly warnings: () => readonly Warning[]
  /** Creates an organization. Default plan: that of the license for new organizations. */
  readonly newOrganization: NewOrganizations
}

type NewOrganizations = (
  name: string,
  options?: CreateOptions & { readonly plan?: Plan | undefined; readonly key?: NewKey | undefined },
) => Promise<NewOrganization>

/** Starts the product from settings, on migrated tables; the caller must call `remit.close`. */
export async function boot(config: Config, options: BootOptions = {}): Promise<Booted> {
  const clock = options.clock ?? systemClock
  const log = options.log ?? createLog(config.REMIT_LOG_LEVEL)
  const entitlement = await entitle(config, clock.now(), options.licenseKey)
  const { edition, evaluation } = entitlement
  if (!evaluation) refuseKnownPassword(config, edition)
  const ledgerKey = await openLedgerKey(config, evaluation || edition === 'community')
  const signer = createLedgerSigner(ledgerKey)
  // Without modules there are no secrets to encrypt.
  const secretsKeys = entitlement.modules.length === 0 ? [] : openSecretsKeys(config, evaluation)
  const credentialPeppers = readPepperFile(config)
  const oidc = oidcSettings(config)
  const usageSink = usageSinkSettings(config)
  const operatorKeys = operatorKeysIn(config.REMIT_OPERATOR_KEYS_FILE)
  const listening = { port: config.REMIT_PORT }
  const warnings = (): Warning[] => {
    const { license } = entitlement
    const notice = license && expiryNotice(license, clock.now())
    return [config.REMIT_ALLOW_LOOPBACK_TARGETS ? LOOPBACK : null, notice].filter(
      (one) => one !== null,
    )
  }
  const storage = await openStorage(config, log)
  const { db, signals } = storage
  const wait = options.wait?.({ config, db, entitlement, log, warnings })
  const base = { db, clock, ids: randomIds, signer, version: VERSION, log }
  const newOrganization: NewOrganizations = (name, wanted = {}) => {
    const { plan = entitlement.newPlan, limits, key, ...more } = wanted
    return createOrganization({ ...base, host: originHost(config) }, name, plan, key, {
      ...more,
      limits: { ...(entitlement.hosted && PLAN_LIMITS[plan]), ...limits },
    })
  }
  try {
    if (options.background ?? true) await refuseCommunity(config, entitlement, db)
    const remit = await createRemit({
      ...base,
      ...entitlement,
      databaseUrl: config.REMIT_DATABASE_URL,
      tracer: options.tracer ?? null,
      secrets: createSecretBox(secretsKeys),
      signals,
      ...(storage.ledgerDb && { ledgerDb: storage.ledgerDb }),
      ...(storage.nodes && { nodes: storage.nodes }),
      newOrganization,
      ...(operatorKeys && { operatorKeys }),
      migrate: prepareTables(config.REMIT_MIGRATE, storage, wait),
      warnings: () => warnings().map(({ text }) => text),
      background: options.background ?? true,
      outbound: createOutbound({ allowLoopback: config.REMIT_ALLOW_LOOPBACK_TARGETS }),
      rateLimit: config.REMIT_RATE_LIMIT,
      failedKeyLimit: config.REMIT_FAILED_KEY_LIMIT,
      pages: referencePages(config.REMIT_DOCS_URL),
      console: consoleFiles(),
      sessions: {
        keyLogin: config.REMIT_CONSOLE_KEY_LOGIN,
        place: () => consolePlace(config.REMIT_BASE_URL, config.REMIT_HOST, listening.port),
      },
      ...(config.REMIT_CORS_ORIGINS && { corsOrigins: config.REMIT_CORS_ORIGINS }),
      metricsApart: config.REMIT_METRICS_PORT !== undefined,
      settings: {
        edition,
        ...(config.REMIT_BASE_URL !== undefined && { baseUrl: config.REMIT_BASE_URL }),
        spendDeadlineMs: config.REMIT_SPEND_DEADLINE_MS,
        ...(config.REMIT_SPEND_URL !== undefined && { spendUrl: config.REMIT_SPEND_URL }),
        ...(options.judges && { judges: options.judges }),
        ...(config.REMIT_GUARD_MODEL_URL !== undefined && {
          guardModel: {
            url: config.REMIT_GUARD_MODEL_URL,
            deadlineMs: config.REMIT_GUARD_MODEL_DEADLINE_MS,
            failClosed: config.REMIT_GUARD_MODEL_FAIL_CLOSED,
          },
        }),
        ...(credentialPeppers && { credentialPeppers }),
        ...(oidc && { oidc }),
        ...witnessSettings(config),
        ...checkpointBucket(config),
        ...(usageSink && { usageSink }),
        ...(config.REMIT_CHECKPOINT_DIR !== undefined && {
          checkpointDir: config.REMIT_CHECKPOINT_DIR,
        }),
        ...(config.REMIT_SIGNUP && { signUpsPerHour: config.REMIT_SIGNUP_PER_HOUR }),
        ...(config.REMIT_SMTP_URL !== undefined &&
          config.REMIT_SMTP_FROM !== undefined && {
            smtp: { url: config.REMIT_SMTP_URL, from: config.REMIT_SMTP_FROM },
          }),
        sinkPrivateNetwork: config.REMIT_SINK_PRIVATE_NETWORK,
        ...(options.watchEveryMs !== undefined && { watchEveryMs: options.watchEveryMs }),
      },
    })
    return {
      config,
      entitlement,
      remit,
      db,
      ledgerKey,
      clock,
      log,
      listening,
      warnings,
      newOrganization,
    }
  } catch (error) {
    await closeStorage(storage)
    throw error
  }
}

const LOOPBACK: Warning = {
  level: 'warn',
  text: 'REMIT_ALLOW_LOOPBACK_TARGETS=1: for development and tests only',
}

/** Host part of ledger origins: that of the base URL. */
const originHost = ({ REMIT_BASE_URL: url, REMIT_PORT: port }: Config): string =>
  url === undefined ? `localhost:${port}` : new URL(url).host
