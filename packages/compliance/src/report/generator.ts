import { setTimeout } from 'node:timers/promises'
import { Failure, Periodic } from '@remit/core/base'
import { eachPart, isUnavailable } from '@remit/core/db'
import type { Deps } from '@remit/core/module'
import type { Jobs } from '../jobs/jobs.ts'
import { generate } from './generate.ts'
import type { ReportHead } from '../tables/reports.ts'
import { findAbandoned, updateGenerating } from './store.ts'

export type GeneratorDeps = Pick<Deps, 'db' | 'writer' | 'clock' | 'log'>

/** The duration of a lease on a report, in milliseconds. */
export const LEASE_MS = 30_000
const RENEW_MS = 10_000
const SWEEP_MS = 10_000
const MAX_ATTEMPTS = 3

/**
 * Generates reports. A row holds the request and the lease of the process that works on it, so
 * another process finds and finishes a report whose process died.
 */
export class Generator {
  readonly #deps: GeneratorDeps
  readonly #jobs: Jobs
  readonly #running = new Map<string, Promise<void>>()
  readonly #closing = new AbortController()
  readonly #sweeps: Periodic

  constructor(deps: GeneratorDeps, jobs: Jobs) {
    this.#deps = deps
    this.#jobs = jobs
    this.#sweeps = new Periodic(
      SWEEP_MS,
      () => this.#takeOver(),
      (error) => deps.log.warn({ err: error }, 'reading unfinished reports failed'),
    )
  }

  /** The running generation of a report in this process. */
  running({ org_id, id }: Pick<ReportHead, 'org_id' | 'id'>): Promise<void> | undefined {
    return this.#running.get(`${org_id} ${id}`)
  }

  /** Starts a report that this process holds; rejects if its generation fails. */
  run(row: ReportHead): Promise<void> {
    const name = `${row.org_id} ${row.id}`
    const known = this.#running.get(name)
    if (known) return known
    const running = this.#generate(row).finally(() => this.#running.delete(name))
    this.#running.set(name, running)
    return running
  }

  /** Resumes abandoned reports; for tests and the timer. */
  sweep(): Promise<void> {
    return this.#sweeps.run()
  }

  start(): void {
    this.#sweeps.start()
    void this.sweep()
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the server is shutting down'))
    await this.#sweeps.close()
    await Promise.allSettled(this.#running.values())
  }

  async #generate(row: ReportHead): Promise<void> {
    const hold = new ReportLease(this.#deps, row)
    try {
      await generate(this.#deps, this.#jobs, row, this.#closing.signal)
    } catch (error) {
      await hold.end(() => this.#giveUp(hold.row, error))
      throw error
    } finally {
      await hold.end()
    }
  }

  /** Releases the report for another attempt if that can help; otherwise it fails. */
  async #giveUp(row: ReportHead, error: unknown): Promise<void> {
    const { db, log } = this.#deps
    const isPassing = this.#closing.signal.aborted || isUnavailable(error) || isBusy(error)
    // An attempt that did not start does not count.
    const attempts = row.attempts - (this.#closing.signal.aborted || isBusy(error) ? 1 : 0)
    const change =
      isPassing && attempts < MAX_ATTEMPTS
        ? { held_until: 0, attempts }
        : { status: 'failed' as const, failure: reasonOf(error), held_until: null, ...UNCLAIMED }
    const facts = { orgId: row.org_id, report: row.id }
    // Any caller can cause it, so it must not fill the log.
    if (isBusy(error)) log.debug(facts, 'a report waits for other expensive requests')
    else log.error({ err: error, ...facts }, 'generating a report failed')
    await updateGenerating(db, row, change).catch((fault: unknown) =>
      log.warn({ err: fault }, 'releasing an unfinished report failed'),
    )
  }

  async #takeOver(): Promise<void> {
    const { db, clock, log } = this.#deps
    const parts = await eachPart(
      db,
      (part) => findAbandoned(db, part, clock.now(), 10),
      (error, organizations) =>
        log.warn({ err: error, organizations }, 'reading unfinished reports failed'),
    )
    for (const row of parts.flat()) {
      if (this.#closing.signal.aborted) return
      const held_until = clock.now() + LEASE_MS
      const isLast = row.attempts >= MAX_ATTEMPTS
      const change = isLast
        ? { status: 'failed' as const, failure: INTERRUPTED, held_until: null, ...UNCLAIMED }
        : { held_until, attempts: row.attempts + 1 }
      if (!(await updateGenerating(db, row, change)) || isLast) continue
      await this.run({ ...row, ...change }).catch((error: unknown) =>
        log.warn({ err: error, report: row.id }, 'resuming an abandoned report failed'),
      )
    }
  }
}

const isBusy = (error: unknown): boolean => error instanceof Failure && error.status === 429

const INTERRUPTED = 'Generation was started three times, and the process ended each time.'
// The request may be repeated with the same key.
const UNCLAIMED = { claim_key: null, claim_hash: null }

const reasonOf = (error: unknown): string =>
  error instanceof Failure ? error.message : 'Generation failed. The server log contains the cause.'

/** Renews the lease on a report until it ends. */
class ReportLease {
  row: ReportHead
  readonly #ended = new AbortController()
  readonly #renewing: Promise<void>

  constructor(deps: GeneratorDeps, row: ReportHead) {
    this.row = row
    this.#renewing = this.#renew(deps)
  }

  async end(then?: () => Promise<void>): Promise<void> {
    this.#ended.abort()
    await this.#renewing
    await then?.()
  }

  async #renew({ db, clock, log }: GeneratorDeps): Promise<void> {
    const { signal } = this.#ended
    for (;;) {
      const isOver = await setTimeout(RENEW_MS, false, { signal, ref: false }).catch(() => true)
      if (isOver) return
      const held_until = clock.now() + LEASE_MS
      const isHeld = await updateGenerating(db, this.row, { held_until }).catch((error: unknown) =>
        log.warn({ err: error }, 'extending the lease of a report failed'),
      )
      if (isHeld) this.row = { ...this.row, held_until }
    }
  }
}
