import { listOrganizations, openCheckpoint, parseVerifierKey, sizeOfNote } from '@remit/core'
import type { Deps } from '@remit/core'
import { appendNote, readNotes } from './checkpoint-files.ts'

const EVERY_MS = 60 * 60 * 1000

type KeeperDeps = Pick<Deps, 'db' | 'ledger' | 'clock' | 'log' | 'metrics' | 'verifierKey'>

/** Saves the newest checkpoint of every ledger to a folder, once an hour if the ledger has grown. */
export class CheckpointKeeper {
  readonly #deps: KeeperDeps
  readonly #folder: string
  #next = -Infinity
  #completedAt: number | null = null

  constructor(deps: KeeperDeps, folder: string) {
    this.#deps = deps
    this.#folder = folder
    deps.metrics.gauge(
      'remit_checkpoint_age_seconds',
      'Time since the checkpoints of all ledgers were last saved outside the database by this server',
      () => this.#completedAt && Math.max(0, (deps.clock.now() - this.#completedAt) / 1000),
    )
  }

  /** `mayGoOn` is called before each ledger. */
  async keep(mayGoOn: () => Promise<boolean>): Promise<void> {
    const { db, clock, log } = this.#deps
    const now = clock.now()
    if (now < this.#next) return
    let isComplete = true
    for (const { id, plan } of await listOrganizations(db)) {
      if (plan === 'free') continue
      if (!(await mayGoOn())) return
      try {
        await this.#keepOne(id, now)
      } catch (error) {
        isComplete = false
        log.error({ err: error, orgId: id }, 'saving a checkpoint outside the database failed')
      }
    }
    this.#next = now + EVERY_MS
    if (isComplete) this.#completedAt = now
  }

  async #keepOne(orgId: string, now: number): Promise<void> {
    const { ledger, log, verifierKey } = this.#deps
    const { note, origin } = await ledger.head(orgId)
    const { notes } = await readNotes(this.#folder, orgId)
    // A note that the ledger's key did not sign must not become a reference for it.
    const { size } = openCheckpoint(note, parseVerifierKey(verifierKey(origin)), origin)
    if (note === notes.at(-1)) return
    const kept = notes.reduce((most, one) => Math.max(most, sizeOfNote(one) ?? 0), 0)
    if (size < kept)
      log.error(
        { orgId, size, kept },
        'the ledger is shorter than a saved checkpoint; verify the ledger',
      )
    await appendNote(this.#folder, orgId, note, now)
  }
}
