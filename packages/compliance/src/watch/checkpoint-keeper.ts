import { isoTime } from '@remit/core/base'
import { organizationIds } from '@remit/core/db'
import type { Witness } from '@remit/core/kms'
import { openCheckpoint, parseVerifierKey, sizeOfNote } from '@remit/core/ledger/proofs'
import type { Deps } from '@remit/core/module'
import { findOrganization, listDeleted } from '@remit/core/orgs'
import { appendNote, readNotes } from './checkpoint-files.ts'
import { lockNote } from './lock-note.ts'
import { recordWitness } from './record-witness.ts'

const EVERY_MS = 60 * 60 * 1000
const EVERY_MS_WITH_WITNESS = 60 * 1000
/** An interrupted deletion stores the end of its ledger up to this long after its last entry. */
const INTERRUPTED_MS = 7 * 24 * 60 * 60 * 1000

type KeeperDeps = Pick<
  Deps,
  'db' | 'ledger' | 'clock' | 'log' | 'metrics' | 'verifierKey' | 'settings' | 'writer' | 'outbound'
>

/**
 * Saves the newest checkpoint of every ledger to a folder if the ledger has grown: once an hour, or once
 * a minute with the signature of a witness.
 */
export class CheckpointKeeper {
  readonly #deps: KeeperDeps
  readonly #folder: string
  #next = -Infinity
  #completedAt: number | null = null
  /** The keys of the witness that ledgers are known to name. */
  readonly #recorded = new Map<string, string>()

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
    for (const id of await organizationIds(db)) {
      if (!(await mayGoOn())) return
      try {
        const organization = await findOrganization(db, id)
        if (organization && organization.plan !== 'free') await this.#keepOne(id, now)
      } catch (error) {
        isComplete = false
        log.error({ err: error, orgId: id }, 'saving a checkpoint outside the database failed')
      }
    }
    if (!(await this.#keepEnds(now))) isComplete = false
    const { witness, witnessEveryMs = witness ? EVERY_MS_WITH_WITNESS : EVERY_MS } =
      this.#deps.settings
    // A run that is a little early must not wait for the next one.
    this.#next = now + witnessEveryMs * 0.9
    if (isComplete) this.#completedAt = now
  }

  /** Records the key of the witness in the ledger, once. */
  async #record(orgId: string, witness: Witness): Promise<void> {
    const { origin } = await this.#deps.ledger.head(orgId)
    const vkey = await witness.vkey(origin)
    if (this.#recorded.get(orgId) === vkey) return
    await recordWitness(this.#deps, orgId, vkey)
    this.#recorded.set(orgId, vkey)
  }

  /**
   * Saves the last checkpoints of organizations that were deleted since the last complete run. Returns
   * false if one of them fails.
   */
  async #keepEnds(now: number): Promise<boolean> {
    const { db, log } = this.#deps
    const failed = 'saving the last checkpoint of a deleted organization failed'
    const since = this.#completedAt === null ? '' : isoTime(this.#completedAt - INTERRUPTED_MS)
    let isComplete = true
    try {
      for (const { id, note, origin } of await listDeleted(db, since))
        await this.#save(id, { note, origin }, now).catch((error: unknown) => {
          isComplete = false
          log.error({ err: error, orgId: id }, failed)
        })
    } catch (error) {
      isComplete = false
      log.error({ err: error }, failed)
    }
    return isComplete
  }

  async #keepOne(orgId: string, now: number): Promise<void> {
    const { ledger, settings } = this.#deps
    const { witness } = settings
    if (witness) await this.#record(orgId, witness)
    await this.#save(orgId, await ledger.head(orgId), now)
  }

  async #save(
    orgId: string,
    { note, origin }: { readonly note: string; readonly origin: string },
    now: number,
  ): Promise<void> {
    const { log, verifierKey, settings } = this.#deps
    const { witness } = settings
    const { notes } = await readNotes(this.#folder, orgId)
    // A note that the ledger's key did not sign must not become a reference for it.
    const { size } = openCheckpoint(note, parseVerifierKey(verifierKey(origin)), origin)
    // The last one may have the signature of the witness too.
    if (notes.at(-1)?.startsWith(note)) return
    const kept = notes.reduce((most, one) => Math.max(most, sizeOfNote(one) ?? 0), 0)
    if (size < kept)
      log.error(
        { orgId, size, kept },
        'the ledger is shorter than a saved checkpoint; verify the ledger',
      )
    // Without its signature, nothing is saved: an unwitnessed note must not look like an honest one.
    const signed = witness ? await witness.cosign(note) : note
    // Before the folder: what is there counts as saved.
    if (settings.checkpointBucket)
      await lockNote(this.#deps, settings.checkpointBucket, orgId, signed)
    await appendNote(this.#folder, orgId, signed, now)
  }
}
