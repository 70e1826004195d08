import { randomUUID } from 'node:crypto'
import { eachPart, Failure, on } from '@remit/core'
import type { Contribution, Database, Deps, Part } from '@remit/core'
import type { Jobs } from '../jobs/jobs.ts'
import type { Tables } from '../tables/schema.ts'
import { Lease } from '../watch/lease.ts'
import { addTally, findBehind, forgetMinutes } from './store.ts'
import type { Behind } from './store.ts'

const EVERY_MS = 5_000
/** The number of failed runs after which another process takes over. */
const MISSED = 4
const PIECE = 100
const FORGET_MS = 60 * 60 * 1000

/**
 * Keeps the counts of decisions behind the ledgers, off the decision path: the process of the
 * installation that holds the lease reads new entries in a worker thread.
 */
export class StatKeeper implements Required<Pick<Contribution, 'start' | 'close'>> {
  readonly #deps: Pick<Deps, 'clock' | 'log'>
  readonly #db: Database<Tables>
  readonly #jobs: Jobs
  readonly #everyMs: number
  readonly #lease: Lease
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | null = null
  #forgotAt = -Infinity
  #hasHeld = false
  #closed = false

  constructor(deps: Pick<Deps, 'db' | 'clock' | 'log' | 'settings'>, jobs: Jobs) {
    this.#deps = deps
    this.#db = on<Tables>(deps.db)
    this.#jobs = jobs
    this.#everyMs = Math.min(EVERY_MS, deps.settings.watchEveryMs ?? EVERY_MS)
    this.#lease = new Lease(deps.db as never, 'stats', randomUUID(), MISSED * EVERY_MS)
  }

  start(): void {
    this.#timer = setInterval(() => void this.look(), this.#everyMs).unref()
  }

  /** One run, if this process holds the lease; for the timer and tests. */
  look(): Promise<void> {
    this.#running ??= this.#look()
      .catch((error: unknown) => this.#deps.log.warn({ err: error }, 'counting decisions failed'))
      .finally(() => (this.#running = null))
    return this.#running
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    await this.#running
    if (!this.#hasHeld) return
    await this.#lease
      .release()
      .catch((error: unknown) =>
        this.#deps.log.warn({ err: error }, 'releasing the lease of the counts failed'),
      )
  }

  async #look(): Promise<void> {
    const failed = (error: unknown, organizations?: readonly string[]) =>
      this.#deps.log.warn({ err: error, organizations }, 'counting decisions failed')
    await eachPart(this.#db, (part) => this.#countPart(part), failed)
    const now = this.#deps.clock.now()
    if (this.#closed || now - this.#forgotAt < FORGET_MS) return
    this.#forgotAt = now
    await eachPart(this.#db, (part) => forgetMinutes(this.#db, part, now), failed)
  }

  async #countPart(part: Part): Promise<void> {
    let after = ''
    for (let behind: Behind[] = []; await this.#holds(); after = behind.at(-1)?.orgId ?? '') {
      behind = await findBehind(this.#db, part, after, PIECE)
      for (const one of behind) if (await this.#holds()) await this.#count(one)
      if (behind.length < PIECE) break
    }
  }

  async #holds(): Promise<boolean> {
    if (this.#closed || !(await this.#lease.hold(this.#deps.clock.now()))) return false
    this.#hasHeld = true
    return true
  }

  /** Counts until the end of the ledger, a part at a time. */
  async #count(behind: Behind): Promise<void> {
    const { orgId } = behind
    try {
      let { nextSeq } = behind
      while (!this.#closed) {
        const from: number = nextSeq ?? 0
        const counted = await this.#jobs.tally(orgId, from)
        if (counted.nextSeq === from || !(await addTally(this.#db, { orgId, nextSeq }, counted)))
          return
        nextSeq = counted.nextSeq
      }
    } catch (error) {
      // The threads are busy with reports: the next run counts.
      if (error instanceof Failure && error.code === 'jobs_busy') return
      throw error
    }
  }
}
