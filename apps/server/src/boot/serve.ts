import { randomUUID } from 'node:crypto'
import { Periodic } from '@remit/core/base'
import { waitingApp } from '@remit/core/server'
import type { Remit } from '@remit/core/server'
import { isUnavailable, unavailable, organizationIds } from '@remit/core/db'
import { isLoopback, listKeys, findKeyOrganization, parseKey } from '@remit/core/keys'
import { findOrganization, organizationPage, organizationExists } from '@remit/core/orgs'
import type { WaitOptions } from '@remit/core/db/open'
import { problemResponse } from '@remit/core/http'
import { boot } from './boot.ts'
import type { BootOptions, Booted, Waiting } from './boot.ts'
import { ignoredNames, readJudgesFile } from '../settings/config.ts'
import type { Config } from '../settings/config.ts'
import { foreignLedgers } from '../settings/ledger-key.ts'
import { metricsSettings, telemetrySettings } from '../settings/telemetry.ts'
import { listen } from './listen.ts'
import type { Listener, ListenOptions } from './listen.ts'
import { VERSION } from '../settings/version.ts'
import { migrationsOf } from './tables.ts'
import { ConfigError } from '../settings/environment.ts'

export interface RunningServer {
  readonly url: string
  /** URL of `/metrics`, if on a separate port. */
  readonly metricsUrl: string | null
  readonly edition: 'community' | 'enterprise'
  /** The loaded edition and its reason, in one line. */
  readonly notice: string
  /** Warnings about organizations that allow by default. */
  readonly openDefaults: readonly string[]
  /** The key of the organization that this start created. */
  readonly first: FirstKey | null
  /** The address of the console; a link that signs in once where the server is for evaluation. */
  readonly consoleUrl: string
  readonly loginUrl: string | null
  readonly remit: Remit
  /** Stops accepting connections, finishes running requests, closes. */
  stop(): Promise<void>
}

const DAY_MS = 86_400_000

export interface ServerOptions
  extends Omit<BootOptions, 'judges' | 'tracer' | 'wait'>, Pick<ListenOptions, 'requestTimeoutMs'> {
  /** Ends a start that waits for migrations; `createServer` then rejects with its reason. */
  readonly signal?: AbortSignal
  /** Milliseconds after which the warnings are logged again; a day unless given. */
  readonly remindEveryMs?: number
  /** Environment with the keys of judges. Default: that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** Boots and listens; resolves when requests are accepted. Writes only to the log. */
export async function createServer(
  config: Config,
  options: ServerOptions = {},
): Promise<RunningServer> {
  const env = options.env ?? process.env
  const judges = readJudgesFile(config, env)
  const telemetry = telemetrySettings(env)
  const otlpMetrics = metricsSettings(env)
  // Nobody else pays for the library.
  const tracer = telemetry && (await import('./open-telemetry.ts')).openTelemetry(telemetry)
  const on = {
    ...options,
    host: config.REMIT_HOST,
    keepAliveMs: config.REMIT_KEEP_ALIVE_SECONDS * 1000,
  }
  const door = new FrontDoor({ ...on, port: config.REMIT_PORT, setting: 'REMIT_PORT' })
  const wait = door.wait(options.signal ?? new AbortController().signal)
  const booted = await boot(config, { ...options, judges, tracer, wait }).catch(
    async (error: unknown) => {
      await door.close()
      throw error
    },
  )
  const { remit, db, ledgerKey, log, entitlement, warnings } = booted
  const { edition, notice } = entitlement
  let metrics: Listener | null = null
  const sender =
    otlpMetrics && (await import('./otlp-metrics.ts')).sendMetrics(otlpMetrics, remit.metrics)
  const reminder = new Periodic(
    options.remindEveryMs ?? DAY_MS,
    async () => {
      for (const { level, text } of warnings()) log[level](text)
    },
    (error) => log.error({ err: error }, 'warnings could not be logged'),
  )
  const close = async () => {
    remit.release()
    await Promise.all([reminder.close(), door.close(), metrics?.stop()])
    // The last values include the requests that ended while the door closed.
    await sender?.close()
    await remit.close()
  }
  try {
    // The first key is shown once: a start whose port is taken must not make it.
    await door.open()
    if (config.REMIT_METRICS_PORT !== undefined)
      metrics = await listen(remit.metricsApp, {
        ...on,
        port: config.REMIT_METRICS_PORT,
        setting: 'REMIT_METRICS_PORT',
      })
    const first = await bootstrap(booted)
    const main = await door.serve(remit.app)
    booted.listening.port = Number(new URL(main.url).port || 80)
    const { url } = main
    const consoleUrl = `${config.REMIT_BASE_URL?.replace(/\/$/, '') ?? url}/console`
    const loginUrl = await loginLink(booted, url)
    const metricsUrl = metrics && `${metrics.url}/metrics`
    const [database] = config.REMIT_DATABASE_URL.split(':')
    log[entitlement.evaluation ? 'warn' : 'info'](
      { url, ...(metricsUrl !== null && { metrics: metricsUrl }), edition, database },
      notice,
    )
    for (const name of ignoredNames(env)) log.warn(name)
    await reminder.run()
    reminder.start()
    const foreign = await foreignLedgers(db, ledgerKey)
    if (foreign.length > 0) {
      log.error(
        { organizations: foreign },
        'ledgers are signed with a different key than REMIT_LEDGER_KEY_FILE; requests of these organizations fail',
      )
    }
    const openDefaults = await remit.openDefaults()
    let stopping: Promise<void> | null = null
    const stop = () => (stopping ??= close())
    const urls = { url, consoleUrl, loginUrl, metricsUrl }
    return { ...urls, edition, notice, openDefaults, first, remit, stop }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * Returns a link that signs in to the console once, with the oldest admin key of the first
 * organization. Null except in evaluation on this machine alone, without a public address.
 */
async function loginLink(booted: Booted, url: string): Promise<string | null> {
  try {
    return await createLink(booted, url)
  } catch (error) {
    // On a cluster, the node of that organization may be lost; the server serves the others.
    if (isUnavailable(error)) return null
    throw error
  }
}

async function createLink({ config, db, remit }: Booted, url: string): Promise<string | null> {
  const isLocal = config.REMIT_BASE_URL === undefined && isLoopback(config.REMIT_HOST)
  if (!config.REMIT_EVALUATION || !isLocal) return null
  const { REMIT_BOOTSTRAP_ORG: name } = config
  const named = name === undefined ? undefined : await findOrganization(db, name)
  const organization = named ?? (await organizationPage(db, 1)).rows[0]
  if (!organization) return null
  const keys = await listKeys(db, organization.id)
  const key = keys.find(({ role, revoked_at }) => role === 'admin' && revoked_at === null)
  return key ? url + remit.loginPath({ orgId: organization.id, keyId: key.id }) : null
}

type App = Pick<Remit['app'], 'fetch'>

/**
 * The port of the server. It opens when the product serves, or earlier, when migrations are pending
 * (`REMIT_MIGRATE=check`): orchestrators then see a live server that is not ready.
 */
class FrontDoor {
  readonly #options: ListenOptions
  #app: App | null = null
  #listener: Listener | null = null

  constructor(options: ListenOptions) {
    this.#options = options
  }

  /** Opens the port unless it is open: every answer is 503 until `serve`. */
  async open(): Promise<void> {
    if (this.#listener) return
    await this.serve({
      fetch: () => problemResponse(unavailable('database_unavailable'), randomUUID()),
    })
  }

  /** Serves `app` from now on. */
  async serve(app: App): Promise<Listener> {
    this.#app = app
    const current: App['fetch'] = (...request) => (this.#app ?? app).fetch(...request)
    return (this.#listener ??= await listen({ fetch: current }, this.#options))
  }

  /** Returns how to wait for migrations: not ready, with the reason in the log. */
  wait(signal: AbortSignal): (waiting: Waiting) => WaitOptions {
    return ({ config, db, entitlement, log, warnings }) => ({
      signal,
      onWait: async (reason) => {
        log.warn(`not ready: ${reason}`)
        const { edition, evaluation, modules } = entitlement
        await this.serve(
          waitingApp({
            db,
            version: VERSION,
            edition,
            evaluation,
            modules: ['core', ...modules.map(({ name }) => name)],
            migrationSets: migrationsOf(modules),
            warnings: () => warnings().map(({ text }) => text),
            corsOrigins: config.REMIT_CORS_ORIGINS,
          }),
        )
      },
    })
  }

  async close(): Promise<void> {
    await this.#listener?.stop()
  }
}

/** The admin key of the organization that the first start creates. */
export interface FirstKey {
  readonly organization: string
  readonly secret: string
  /** True if the key came from the settings. */
  readonly given: boolean
}

/**
 * Creates the organization of the settings unless it exists. Returns null if nothing was created.
 */
export async function bootstrap({ config, db, newOrganization }: Booted): Promise<FirstKey | null> {
  const { REMIT_BOOTSTRAP_ORG, REMIT_BOOTSTRAP_KEY: given } = config
  const organization = REMIT_BOOTSTRAP_ORG ?? (given === undefined ? undefined : 'default')
  if (organization === undefined || (await organizationExists(db, organization))) return null
  // Without a given key, only a mistyped name would create a second organization.
  if (given === undefined && (await organizationIds(db)).length > 0) return null
  const key = given === undefined ? undefined : (parseKey(given) ?? undefined)
  try {
    const { secret } = (await newOrganization(organization, { key })).key
    return { organization, secret, given: key !== undefined }
  } catch (error) {
    // Another process that started concurrently may have been first.
    if (await organizationExists(db, organization)) return null
    if (key && (await findKeyOrganization(db, key.id))) {
      throw new ConfigError('REMIT_BOOTSTRAP_KEY already belongs to another organization')
    }
    throw error
  }
}
