import type { Logger } from 'pino'
import { Decider } from './authorize/decider.ts'
import { coreModule } from './core-module.ts'
import type { ArchiveRules } from './db/archived.ts'
import { migrate } from './db/migrate.ts'
import { migrationSetsOf } from './db/migration-set.ts'
import { emptyLog, overwriting } from './db/scrub.ts'
import { localSignals } from './db/signals.ts'
import { createApp } from './http/app.ts'
import { Bodies } from './http/body.ts'
import { Limiter } from './base/limiter.ts'
import { RequestTurns, createFailedKeys, createRateLimit } from './http/limits.ts'
import { Deadlines } from './http/pipeline.ts'
import { RunningClaims } from './http/idempotency.ts'
import { Writer } from './ledger/write/writer.ts'
import { writeMetrics } from './ledger/write/write-metrics.ts'
import { createMetrics, decisionMetrics, requestMetrics } from './telemetry/metrics.ts'
import { metricsApp } from './http/status.ts'
import { Authenticator } from './keys/authenticator.ts'
import { LoginLinks } from './sessions/people.ts'
import { Sessions } from './sessions/sessions.ts'
import type { SessionSettings } from './sessions/sessions.ts'
import { sessionRoutes } from './http/session-routes.ts'
import type { Route } from './http/endpoint.ts'
import { Ledger } from './ledger/read/ledger.ts'
import type { Deps, Settings } from './module/module.ts'
import type { DocumentKind } from './module/documents.ts'
import type { Ports } from './module/ports.ts'
import { assemble } from './module/registry.ts'
import { reseal } from './module/stored-secrets.ts'
import { createOutbound } from './net/outbound.ts'
import { checkerOf, guardRoutes } from './guard/routes.ts'
import { litellmRoutes } from './guard/litellm.ts'
import type { ExternalModel } from './guard/external-model.ts'
import { operatorKeys } from './keys/operator-keys.ts'
import { operatorRoutes } from './operator/routes.ts'
import { openDefaultsReader } from './orgs/open-defaults.ts'
import { scorerRoutes } from './scorers/routes.ts'
import { ComputePool } from './threads/pool.ts'
import { HeavyWorkQueue } from './threads/heavy-work-queue.ts'
import type { Remit, RemitOptions } from './remit.ts'
import { Cleanup } from './db/cleanup.ts'
import { forgetAnswers } from './idempotency/store.ts'
import { forgetSessions } from './sessions/store.ts'

const NO_SIGN_IN: SessionSettings = { keyLogin: false, place: () => null }

/** Puts database, modules and HTTP together; brings the tables up to date first. */
export async function createRemit(options: RemitOptions): Promise<Remit> {
  const { db, nodes, clock, ids, log, settings, signer, signals = localSignals() } = options
  const { failedKeyLimit = 60, ledgerDb } = options
  const modules = [coreModule, ...options.modules]
  const migrationSets = migrationSetsOf(modules)
  const migrated = await (options.migrate?.(migrationSets) ?? migrate(db, migrationSets))

  const sessions = new Sessions(db, options.planCeiling, clock, options.sessions ?? NO_SIGN_IN)
  const authenticator = new Authenticator(db, options.planCeiling, clock, sessions)
  const links = new LoginLinks(clock)
  const heavyWork = new HeavyWorkQueue()
  const metrics = createMetrics()
  const { license = null } = options
  metrics.gauge(
    'remit_license_expires_seconds',
    'Seconds until the license expires; negative after that',
    () => license && (Date.parse(license.expiresAt) - clock.now()) / 1000,
  )
  const writer = new Writer({
    db: ledgerDb ?? db,
    clock,
    signer,
    log,
    signals,
    heavyWork,
    metrics: writeMetrics(metrics),
    authenticator,
    ...(nodes && { nodes }),
    ...(options.maxBatch !== undefined && { maxBatch: options.maxBatch }),
    ...(options.requestMs !== undefined && { maxWaitMs: options.requestMs }),
  })
  const ledger = new Ledger(db, heavyWork)
  const decider = new Decider(writer, {
    db,
    clock,
    ids,
    log,
    heavyWork,
    observe: decisionMetrics(metrics),
    rate: new Limiter(1),
  })
  const computer = new ComputePool()
  const ports: Partial<Ports> = {}
  const documents: DocumentKind[] = []
  const deps: Deps = {
    db,
    databaseUrl: sharedUrl(options.databaseUrl),
    ledger,
    writer,
    decider,
    verifierKey: (origin) => signer.forOrigin(origin).vkey,
    clock,
    ids,
    signals,
    metrics,
    secrets: options.secrets,
    sessions,
    computer,
    outbound: options.outbound ?? createOutbound({ allowLoopback: false }),
    log,
    evaluation: options.evaluation,
    planCeiling: options.planCeiling,
    settings,
    newOrganization: options.newOrganization ?? null,
    documents: () => documents,
    port: (name) => offered(ports, name),
    offered: (name) => ports[name],
  }
  const parts = modules.map((module) => ({ module, contribution: module.setup(deps) }))
  const assembled = assemble(parts)
  Object.assign(ports, assembled.ports)
  authenticator.use(ports.credentials)
  decider.use(assembled.stages, ports.counters)
  documents.push(...assembled.documents)
  writer.use(assembled.observers, assembled.changeObservers)

  const operators = operatorKeys(options.operatorKeys ?? new Map())
  const archive = Object.assign({}, ...modules.map((module) => module.archive)) as ArchiveRules
  const requests = new RequestTurns()
  const deadlines = new Deadlines(options.requestMs)
  const closing = new AbortController()
  const observeRequest = requestMetrics(metrics, () => deadlines.size)
  const rateLimit = options.rateLimit > 0 ? createRateLimit(options.rateLimit) : null
  const failedKeys = failedKeyLimit > 0 ? createFailedKeys(failedKeyLimit) : null
  const second = secondModelOf(settings, log)
  const check = checkerOf({ observers: assembled.guardChecks, second, computer })
  const routes: readonly Route[] = [
    ...assembled.routes,
    // Modules add scorers and observers, so these endpoints come when all are known.
    ...scorerRoutes(assembled.scorers, assembled.scorerRuns, computer),
    ...guardRoutes(check),
    ...litellmRoutes(check, () => ports.toolDecisions),
    ...(operators.exist && options.newOrganization
      ? operatorRoutes({
          db,
          writer,
          ledger,
          clock,
          archive,
          version: options.version,
          create: options.newOrganization,
          usage: () => ports.usageCounts,
        })
      : []),
    ...sessionRoutes({
      db,
      authenticator,
      sessions,
      people: ports.people ?? null,
      failedKeys,
      rateLimit,
      writer,
      edition: settings.edition,
      evaluation: options.evaluation,
      license: options.hosted ? null : license,
      routes: () => routes,
    }),
  ]
  // On a hosted server each organization belongs to a customer, and lower plans have no rules that allow.
  const hasRules = settings.edition === 'enterprise' && options.planCeiling === 'enterprise'
  const openDefaults =
    hasRules && !options.hosted ? openDefaultsReader(db, clock) : () => Promise.resolve([])
  const app = createApp({
    ...options,
    operatorKeys: operators,
    sessions,
    links,
    consolePages: assembled.consolePages,
    edition: settings.edition,
    modules: modules.map(({ name }) => name),
    warnings: options.warnings ?? (() => []),
    openDefaults,
    migrationSets,
    metrics,
    observeRequest,
    tracer: options.tracer ?? null,
    authenticator,
    rateLimit,
    failedKeys,
    deadlines,
    computer,
    claims: new RunningClaims(),
    bodies: new Bodies(computer, requests),
    requests,
    closing: closing.signal,
    impersonations: ports.impersonations ?? null,
    routes,
  })
  const cleanup = new Cleanup({ db, log }, 'idempotency keys and sessions', async (part) => {
    await forgetAnswers(db, part, clock.now())
    await forgetSessions(db, part, clock.now())
  })
  const resealAll = async () => {
    const done = await overwriting(db, () => reseal({ db, log }, assembled.storedSecrets))
    if (done.resealed > 0 && !(await emptyLog(db)))
      log.warn('write-ahead log still contains secrets under their old encryption')
    return done
  }
  if (options.background !== false) {
    await assembled.check()
    const { resealed } = await resealAll()
    if (resealed > 0) log.info({ resealed }, 'stored secrets encrypted under the current key')
    assembled.start()
    cleanup.start()
  }

  return {
    app,
    metricsApp: metricsApp(metrics),
    metrics,
    writer,
    ledger,
    decider,
    ports,
    archive,
    erasers: assembled.erasers,
    migrated,
    loginPath: (key) => `/console/start?token=${links.create(key)}`,
    reseal: resealAll,
    openDefaults,
    release: () => closing.abort(),
    async close() {
      closing.abort()
      await cleanup.close()
      await assembled.settle()
      await writer.drain()
      deadlines.close()
      await computer.close()
      await assembled.close()
      await signals.close()
      await options.tracer?.close()
      await Promise.all([nodes?.close(), ledgerDb?.destroy(), db.destroy()])
    },
  }
}

/** A database in memory is only there for the handle that made it. */
const sharedUrl = (url: string | undefined): string | null =>
  url === undefined || url === 'sqlite::memory:' ? null : url

function secondModelOf({ guardModel }: Settings, log: Logger): ExternalModel | null {
  if (!guardModel) return null
  const onFailure = (error: unknown) => log.warn({ err: error }, 'external guard model failed')
  return { ...guardModel, onFailure }
}

function offered<K extends keyof Ports>(ports: Partial<Ports>, name: K): Ports[K] {
  const port = ports[name]
  if (port === undefined) throw new Error(`no module provides ${name}`)
  return port
}
