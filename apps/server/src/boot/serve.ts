import { Periodic } from '@remit/core/base'
import type { Remit } from '@remit/core/server'
import { boot } from './boot.ts'
import type { BootOptions } from './boot.ts'
import { bootstrap } from './bootstrap.ts'
import { FrontDoor } from './front-door.ts'
import type { FirstKey } from './bootstrap.ts'
import { ignoredNames } from '../settings/config.ts'
import type { Config } from '../settings/config.ts'
import { loginLink } from './login-link.ts'
import { foreignLedgers } from '../settings/ledger-key.ts'
import { metricsSettings, telemetrySettings } from '../settings/telemetry.ts'
import { readJudgesFile } from '../settings/judges-file.ts'
import { listen } from './listen.ts'
import type { Listener, ListenOptions } from './listen.ts'

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
    await Promise.all([reminder.close(), door.close(), metrics?.stop(), sender?.close()])
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
