import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { OrganizationShares } from '../../computing/computing.ts'
import { isConflict, isDatabaseError, isUnavailable, unavailable } from '../../db/failure.ts'
import type { NearNodes } from '../../db/near-nodes.ts'
import type { Signals } from '../../db/signals.ts'
import { Failure, fail } from '../../base/errors.ts'
import { HeadGuard } from './head-guard.ts'
import { Queue } from './queue.ts'
import { HeavyWorkQueue } from '../../threads/heavy-work-queue.ts'
import { OrganizationVersions } from '../../limits/at-version.ts'
import type { LedgerSigner } from '../format/note.ts'
import { lockHead } from '../store/store.ts'
import { WorkError, runTransaction } from './transaction.ts'
import type { Committed, OpenLanes, TransactionDeps } from './transaction.ts'
import { LATER, RetryBatch } from './work.ts'
import type {
  Change,
  ChangeObserver,
  EntryObserver,
  Lane,
  LaneBatch,
  WorkOrigin,
  Work,
  WorkAlone,
} from './work.ts'
import type { Span } from '../../telemetry/tracing.ts'
import type { WriteMetrics } from './write-metrics.ts'

export interface WriterOptions extends Omit<
  TransactionDeps,
  'observers' | 'changeObservers' | 'heads' | 'versions'
> {
  readonly signer: LedgerSigner
  readonly log: Logger
  readonly signals: Signals
  /** Nodes of a cluster on which decisions are written; the main connection unless given. */
  readonly nodes?: NearNodes
  /** Queue of heavy work; a separate one by default. */
  readonly heavyWork?: HeavyWorkQueue
  /** Maximum requests per transaction; 1 commits every request alone. */
  readonly maxBatch?: number
  /** Maximum waiting requests per organization; more are rejected. */
  readonly maxWaiting?: number
  /** Milliseconds that a request may wait before it is rejected. */
  readonly maxWaitMs?: number
}

const MAX_ATTEMPTS = 6
const WAITED_TOO_LONG = 'The request waited too long in the queue; nothing was changed'
/** Maximum requests per transaction while other organizations are active: about 10 ms. */
const SHARED_BATCH = 128

interface Done {
  /** Requests that there was no time for. */
  readonly later: Work[]
  readonly computedMs: number
}

/**
 * The only writer of ledger entries. Requests of an organization wait in its queue; while one
 * transaction commits, the next batch gathers. No response is sent before the commit is durable.
 */
export class Writer {
  readonly #options: WriterOptions
  readonly #heads: HeadGuard
  /** The organizations as this process last read them. */
  readonly versions = new OrganizationVersions()
  readonly #shares: OrganizationShares
  readonly #queues = new Map<string, Queue>()
  readonly #running = new Map<string, Promise<void>>()
  #deps: TransactionDeps
  #closed = false

  constructor(options: WriterOptions) {
    this.#options = options
    this.#heads = new HeadGuard(options.signer)
    this.#shares = new OrganizationShares(options.heavyWork ?? new HeavyWorkQueue())
    const { versions } = this
    this.#deps = { ...options, heads: this.#heads, versions, observers: [], changeObservers: [] }
  }

  /** Submits a request to its lane; many share a transaction. */
  submit<Job, Answer>(
    lane: Lane<Job, Answer>,
    orgId: string,
    job: Job,
    origin: WorkOrigin,
  ): Promise<Answer> {
    return this.#enqueue(orgId, lane, job, null, origin)
  }

  /** Runs a configuration change alone in its transaction; it must append an entry. */
  change<Answer>(orgId: string, origin: WorkOrigin, change: Change<Answer>): Promise<Answer> {
    return this.#alone(orgId, origin, { run: change, moves: true, evenIfForged: false })
  }

  /**
   * Runs work that no decision reads from a snapshot alone in its transaction. With `evenIfForged`,
   * for entries that report a forged ledger head, it is recorded after such a head too, unsigned.
   */
  work<Answer>(
    orgId: string,
    origin: WorkOrigin,
    run: Change<Answer>,
    { evenIfForged = false } = {},
  ): Promise<Answer> {
    return this.#alone(orgId, origin, { run, moves: false, evenIfForged })
  }

  /** Sets the observers of entries and of changes. Called once, at boot. */
  use(observers: readonly EntryObserver[], changeObservers: readonly ChangeObserver[] = []): void {
    this.#deps = { ...this.#deps, observers, changeObservers }
  }

  /** Rejects new work and resolves when all queues are empty. */
  async drain(): Promise<void> {
    this.#closed = true
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  #alone<Answer>(orgId: string, origin: WorkOrigin, alone: WorkAlone): Promise<Answer> {
    return this.#enqueue(orgId, null, null, alone, origin)
  }

  #enqueue<Answer>(
    orgId: string,
    lane: Work['lane'],
    job: unknown,
    alone: WorkAlone | null,
    origin: WorkOrigin,
  ): Promise<Answer> {
    const queue = this.#queues.get(orgId) ?? new Queue(this.#options.maxBatch ?? 512)
    if (this.#closed || queue.length >= (this.#options.maxWaiting ?? 4096))
      return Promise.reject(unavailable('overloaded'))
    this.#queues.set(orgId, queue)
    const since = performance.now()
    this.#shares.seen(orgId)
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    // The writer resolves work with the answer of its own lane or change.
    const settle = resolve as (answer: unknown) => void
    const { caller } = origin
    queue.push({ lane, job, alone, origin, caller, since, resolve: settle, reject })
    if (!this.#running.has(orgId)) this.#running.set(orgId, this.#work(orgId, queue))
    return promise
  }

  async #work(orgId: string, queue: Queue): Promise<void> {
    let answered = 0
    let tookMs = 0
    while (queue.length > 0) {
      const most = this.#shares.hasOthers(orgId) ? SHARED_BATCH : undefined
      await queue.gather(answered, tookMs, most)
      const batch = this.#withoutLate(queue.take(most))
      const isHeavy = this.#shares.isHeavy(orgId)
      await this.#shares.run(orgId, isHeavy, async () => {
        const began = performance.now()
        const span = observeCommit(batch, began, this.#options.metrics)
        const { later, computedMs } =
          batch.length > 0 ? await this.#commit(orgId, batch) : { later: [], computedMs: 0 }
        span?.end()
        answered = batch.length - later.length
        if (later.length > 0) queue.putBack(later, answered)
        tookMs = performance.now() - began
        return computedMs
      })
    }
    this.#queues.delete(orgId)
    this.#running.delete(orgId)
  }

  #withoutLate(batch: readonly Work[]): Work[] {
    const oldest = performance.now() - (this.#options.maxWaitMs ?? 20_000)
    const inTime: Work[] = []
    for (const work of batch) {
      if (work.since >= oldest) inTime.push(work)
      else work.reject(fail('deadline_exceeded', WAITED_TOO_LONG))
    }
    return inTime
  }

  /** Resolves the handled requests, and returns those that there was no time for. */
  async #commit(orgId: string, batch: Work[]): Promise<Done> {
    try {
      const { results, topics, computedMs } = await this.#attempt(orgId, batch)
      for (const topic of topics) this.#options.signals.emit({ topic, orgId })
      const later: Work[] = []
      for (const [i, work] of batch.entries()) {
        const result = results[i]
        if (result === LATER) later.push(work)
        else if (result instanceof Error) work.reject(result)
        else work.resolve(result)
      }
      return { later, computedMs }
    } catch (error) {
      // A request that fails must not fail the others.
      if (batch.length > 1 && !(error instanceof Failure)) {
        this.#options.log.error(
          { err: error, orgId },
          'batch failed; retrying its requests one by one',
        )
        for (const work of batch) await this.#commit(orgId, [work])
      } else for (const { reject } of batch) reject(refusalOf(error))
      return { later: [], computedMs: 0 }
    }
  }

  async #attempt(orgId: string, batch: readonly Work[]): Promise<Committed> {
    const lanes = openLanes(orgId, batch)
    for (let attempt = 1; ; attempt++) {
      for (const [lane, open] of lanes)
        await open.before?.(batch.filter((work) => work.lane === lane))
      let done: Committed | null = null
      // Changes may write to the directory, so they run where everything can be reached.
      const { nodes } = this.#options
      const near = (nodes && !batch.some(({ alone }) => alone) && nodes.of(orgId)) || null
      const deps = near ? { ...this.#deps, db: near } : this.#deps
      try {
        return await runTransaction(deps, orgId, batch, lanes, (committed) => {
          done = committed
        })
      } catch (error) {
        // The way through the cluster may still work.
        const hasNodeFailed = near !== null && isDatabaseError(error)
        if (hasNodeFailed) nodes?.forget(orgId)
        if (error instanceof RetryBatch && attempt < MAX_ATTEMPTS) continue
        const mayRetry = (isConflict(error) || hasNodeFailed) && attempt < MAX_ATTEMPTS
        const refused = error instanceof Failure
        if (!mayRetry && (!refused || error.code === 'ledger_unavailable'))
          this.#options.log.error({ err: error, orgId }, 'writing the ledger failed')
        if (refused) throw error
        // After any response to a COMMIT it may have been executed: nothing is repeated.
        if (done && (await this.#isCommitted(orgId, done))) return done
        if (mayRetry) continue
        throw isUnavailable(error) ? unavailable('ledger_unavailable') : error
      }
    }
  }

  /** A COMMIT was not confirmed: the chain itself shows if it was executed. */
  async #isCommitted(orgId: string, { mark }: Committed): Promise<boolean> {
    if (!mark) return false
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      try {
        return (await this.#hashAt(orgId, mark.seq)) === mark.hash
      } catch (error) {
        if (!isConflict(error)) await setTimeout(250)
      }
    }
    throw unavailable('outcome_unknown')
  }

  #hashAt(orgId: string, seq: number): Promise<string | undefined> {
    return this.#options.db.transaction().execute(async (tx) => {
      // The lock waits for a commit that is still running on the lost connection.
      const head = await lockHead(tx, orgId)
      // Another server than that of the commit, without it: its silence proves nothing.
      if (head) this.#heads.refuseBehind(head)
      const entry = await tx
        .selectFrom('ledger_entry')
        .select('hash')
        .where('org_id', '=', orgId)
        .where('seq', '=', seq)
        .executeTakeFirst()
      return entry?.hash
    })
  }
}

/** Opens each lane once. */
function openLanes(orgId: string, batch: readonly Work[]): OpenLanes {
  const lanes = new Map<Lane<unknown, unknown>, LaneBatch<unknown, unknown>>()
  for (const { lane } of batch) if (lane && !lanes.has(lane)) lanes.set(lane, lane.open(orgId))
  return lanes
}

/**
 * Returns the error for the client: failures of the work unchanged. Anything else prevented the
 * recording: 503 without effects.
 */
function refusalOf(error: unknown): unknown {
  if (error instanceof Failure) return error
  return error instanceof WorkError ? error.cause : unavailable('ledger_unavailable')
}

/**
 * Measures how long the requests of a commit waited, and starts the span of the commit if one of them is
 * sampled: a part of the first one, to which the others link.
 */
function observeCommit(
  batch: readonly Work[],
  began: number,
  metrics: WriteMetrics | undefined,
): Span | null {
  let commit: Span | null = null
  if (batch.length > 0) metrics?.batchSize(batch.length)
  for (const { origin, since } of batch) {
    metrics?.queueSeconds((began - since) / 1000)
    const { span } = origin
    if (!span) continue
    if (commit) span.linkTo(commit)
    else {
      commit = span.child('remit.commit')
      commit.set({ 'remit.batch_size': batch.length })
    }
    span.set({ 'remit.queue_wait_ms': began - since, 'remit.batch_size': batch.length })
  }
  return commit
}
