import { isoTime } from '@remit/core/base'
import { eachPart, organizationIds } from '@remit/core/db'
import type { Part } from '@remit/core/db'
import type { Deps, CheckpointBucket } from '@remit/core/module'
import { openCheckpoint, parseVerifierKey, sizeOfNote } from '@remit/core/ledger/proofs'
import { findOrganization, listDeleted, OPERATOR } from '@remit/core/orgs'
import { SYSTEM } from '@remit/core/caller'
import { recording } from '@remit/core/ledger/lanes'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import { putObject } from '@remit/core/net'
import { recordHeartbeat, findDueHeartbeats } from './heartbeat.ts'
import { LedgerFollower } from '../followers/follower.ts'
import { appendNote, readNotes } from './checkpoint-files.ts'

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
export class Watch extends LedgerFollower {
  readonly #deps: WatchDeps
  readonly #checkpoints: CheckpointKeeper | null

  constructor(deps: WatchDeps) {
    const { checkpointDir, witnessEveryMs = EVERY_MS } = deps.settings
    const { watchEveryMs = Math.min(EVERY_MS, witnessEveryMs) } = deps.settings
    super(deps, {
      name: 'ledger-watch',
      everyMs: watchEveryMs,
      missed: MISSED,
      failure: 'watching the ledgers failed',
    })
    this.#deps = deps
    this.#checkpoints =
      checkpointDir === undefined ? null : new CheckpointKeeper(deps, checkpointDir)
  }

  protected async work(): Promise<void> {
    if (!(await this.holds())) return
    await eachPart(
      this.#deps.db,
      (part) => this.#beat(part),
      (error, organizations) =>
        this.#deps.log.warn({ err: error, organizations }, 'finding due heartbeats failed'),
    )
    await this.#checkpoints?.keep(this.holds)
  }

  async #beat(part: Part): Promise<void> {
    const { db, clock, writer, log } = this.#deps
    let after = ''
    for (;;) {
      const silent = await findDueHeartbeats(db, part, clock.now(), after, PIECE)
      for (const orgId of silent) {
        if (!(await this.holds())) return
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

const CHECKPOINT_EVERY_MS = 60 * 60 * 1000
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
class CheckpointKeeper {
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
    const { witness, witnessEveryMs = witness ? EVERY_MS_WITH_WITNESS : CHECKPOINT_EVERY_MS } =
      this.#deps.settings
    // A run that is a little early must not wait for the next one.
    this.#next = now + witnessEveryMs * 0.9
    if (isComplete) this.#completedAt = now
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
    const record = async (vkey: string) => {
      if (this.#recorded.get(orgId) === vkey) return
      await recordWitness(this.#deps, orgId, vkey)
      this.#recorded.set(orgId, vkey)
    }
    await this.#save(orgId, await this.#deps.ledger.head(orgId), now, record)
  }

  async #save(
    orgId: string,
    { note, origin }: { readonly note: string; readonly origin: string },
    now: number,
    record?: (vkey: string) => Promise<void>,
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
    const signed = witness ? await witness.cosign(note) : { note, vkey: null }
    if (signed.vkey !== null) await record?.(signed.vkey)
    // Before the folder: what is there counts as saved.
    if (settings.checkpointBucket)
      await lockNote(this.#deps, settings.checkpointBucket, orgId, signed.note)
    await appendNote(this.#folder, orgId, signed.note, now)
  }
}

/** Records the verifier key of the witness in a ledger unless it is the last recorded one. */
async function recordWitness(
  { ledger, writer }: Pick<Deps, 'ledger' | 'writer'>,
  orgId: string,
  vkey: string,
): Promise<void> {
  const query = { kind: 'witness.set', order: 'desc', limit: 1 } as const
  const [last] = (await ledger.list(orgId, query)).data
  if (last?.data?.['vkey'] === vkey) return
  const entry: EntryDraft = { kind: 'witness.set', actor: SYSTEM, data: { vkey } }
  await writer.work(orgId, OPERATOR, () => recording(entry))
}

const DAY_MS = 86_400_000

/** Stores a checkpoint as an object that nobody can change; rejects unless the store accepted it. */
async function lockNote(
  { outbound, clock }: Pick<Deps, 'outbound' | 'clock'>,
  { bucket, prefix, lockDays }: CheckpointBucket,
  orgId: string,
  note: string,
): Promise<void> {
  const until = new Date(clock.now() + lockDays * DAY_MS)
  const size = String(sizeOfNote(note) ?? 0).padStart(16, '0')
  // The operator chose the store.
  const anywhere = outbound.with({ allowPrivate: true, anyPort: true })
  const { status } = await putObject(anywhere, bucket, {
    key: `${prefix}${orgId}/${size}.note`,
    body: Buffer.from(note),
    contentType: 'text/plain; charset=utf-8',
    ...(lockDays > 0 && { lock: { mode: 'COMPLIANCE', until } }),
  })
  if (status !== 200) throw new Error(`REMIT_CHECKPOINT_BUCKET answered ${status}`)
}
