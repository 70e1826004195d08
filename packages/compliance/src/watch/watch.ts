import { randomUUID } from 'node:crypto'
import { Periodic } from '@remit/core/base'
import { eachPart } from '@remit/core/db'
import type { Part } from '@remit/core/db'
import type { Contribution, Deps } from '@remit/core/module'
import { CheckpointKeeper } from './checkpoint-keeper.ts'
import { recordHeartbeat, findDueHeartbeats } from './heartbeat.ts'
import { Lease } from './lease.ts'

type WatchDeps = Pick<
  Deps,
  'db' | 'writer' | 'ledger' | 'clock' | 'log' | 'metrics' | 'settings' | 'verifierKey' | 'outbound'
>

const EVERY_MS = 60_000
/** The number of failed runs after which another process takes over. */
const MISSED = 3
const PIECE = 100

/**
 * Watches all ledgers periodically: daily heartbeats, and checkpoints in an external folder. Only
 * the process of the installation that holds the lease does it.
 */
export class Watch implements Required<Pick<Contribution, 'start' | 'close'>> {
  readonly #deps: WatchDeps
  readonly #everyMs: number
  readonly #lease: Lease
  readonly #checkpoints: CheckpointKeeper | null
  readonly #runs: Periodic
  #heldUntil = -Infinity
  #closed = false

  constructor(deps: WatchDeps) {
    this.#deps = deps
    const { checkpointDir, witnessEveryMs = EVERY_MS } = deps.settings
    const { watchEveryMs = Math.min(EVERY_MS, witnessEveryMs) } = deps.settings
    this.#everyMs = watchEveryMs
    this.#runs = new Periodic(
      watchEveryMs,
      () => this.#look(),
      (error) => deps.log.warn({ err: error }, 'watching the ledgers failed'),
    )
    this.#lease = new Lease(deps.db as never, 'ledger-watch', randomUUID(), MISSED * watchEveryMs)
    this.#checkpoints =
      checkpointDir === undefined ? null : new CheckpointKeeper(deps, checkpointDir)
  }

  start(): void {
    // Not immediately: a server that stops soon after its start leaves no trace.
    this.#runs.start()
  }

  /** One run, if this process holds the lease; for the timer and tests. */
  look(): Promise<void> {
    return this.#runs.run()
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#runs.close()
    await this.#lease
      .release()
      .catch((error: unknown) =>
        this.#deps.log.warn({ err: error }, 'releasing the watch lease failed'),
      )
  }

  async #look(): Promise<void> {
    this.#heldUntil = Math.min(this.#heldUntil, this.#deps.clock.now())
    if (!(await this.#holds())) return
    await eachPart(
      this.#deps.db,
      (part) => this.#beat(part),
      (error, organizations) =>
        this.#deps.log.warn({ err: error, organizations }, 'finding due heartbeats failed'),
    )
    await this.#checkpoints?.keep(() => this.#holds())
  }

  /** Returns whether to continue; renews the lease during long work. */
  async #holds(): Promise<boolean> {
    const now = this.#deps.clock.now()
    if (this.#closed) return false
    if (now < this.#heldUntil) return true
    const isMine = await this.#lease.hold(now)
    if (isMine) this.#heldUntil = now + this.#everyMs
    return isMine
  }

  async #beat(part: Part): Promise<void> {
    const { db, clock, writer, log } = this.#deps
    let after = ''
    for (;;) {
      const silent = await findDueHeartbeats(db, part, clock.now(), after, PIECE)
      for (const orgId of silent) {
        if (!(await this.#holds())) return
        try {
          await recordHeartbeat(writer, orgId)
        } catch (error) {
          // A failing ledger of one organization must not delay the others.
          log.warn({ err: error, orgId }, 'recording a heartbeat failed')
        }
      }
      if (silent.length < PIECE) return
      after = silent.at(-1) ?? after
    }
  }
}
