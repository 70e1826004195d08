import type { Clock } from '../../base/clock.ts'
import type { Database } from '../../db/open.ts'
import type { CoreTables } from '../../db/schema.ts'
import { emptyLog, overwriteDeleted } from '../../db/scrub.ts'
import { openExport } from '../../ledger/read/export-entries.ts'
import type { LedgerSigner } from '../../ledger/format/note.ts'
import { missingHead, signerOf } from '../../ledger/write/head-guard.ts'
import { findHead } from '../../ledger/store/store.ts'
import type { Writer } from '../../ledger/write/writer.ts'
import type { Archive } from './carry.ts'
import { carryOver } from './carry.ts'
import { checkArchive, checkLedger, planPruning } from './plan.ts'
import type { PrunePlan, PruneQuestion } from './plan.ts'
import { cutLedger, removePruned } from './cut.ts'

export { fileArchive } from './carry.ts'
export type { Archive } from './carry.ts'
export { planPruning } from './plan.ts'
export type { PrunePlan, PruneQuestion, PruneUpTo } from './plan.ts'

export interface PruneDeps {
  readonly db: Database<CoreTables>
  readonly writer: Writer
  readonly clock: Clock
  readonly signer: LedgerSigner
}

/** The current step; `done` counts entries. */
export type PruneStep = 'verified' | 'exported' | 'carried over' | 'removed'
export type OnPruneStep = (step: PruneStep, done: number) => void

export interface PruneOptions extends PruneQuestion {
  readonly archive: Archive
  readonly reason: string
  /** The person who ordered the pruning. */
  readonly person?: string | undefined
  readonly onStep?: OnPruneStep
}

export interface Pruned {
  readonly plan: PrunePlan
  /** Position of the entry that records the pruning. */
  readonly seq: number
  readonly export_sha256: string
  readonly carried: number
  readonly removed: number
  /** False while SQLite's write-ahead log still contains old pages. */
  readonly log_emptied: boolean
}

/**
 * Removes the oldest entries of a valid ledger after a verified export of them. Returns null if
 * there is nothing to prune. The order leaves a valid ledger after an interruption at any point:
 * the export, the carried entries, the cut with its entry, and only then the rows below it, which
 * `finishPruning` removes if this could not.
 */
export async function pruneLedger(
  deps: PruneDeps,
  orgId: string,
  options: PruneOptions,
): Promise<Pruned | null> {
  const { db, writer, clock } = deps
  const { archive, reason, person, onStep = () => undefined } = options
  const plan = await planPruning(db, orgId, options, clock.now())
  if (plan === null) return null
  await checkLedger(db, orgId, await ownKey(deps, orgId), (done) => onStep('verified', done))
  const text = await openExport(db, orgId, { size: plan.cut })
  const export_sha256 = await archive.write(counted(text, (done) => onStep('exported', done)))
  const redacted = await checkArchive(archive, export_sha256, plan)
  const carried = await carryOver(db, writer, plan, (done) => onStep('carried over', done))
  const seq = await cutLedger(writer, plan, {
    export_sha256,
    redacted,
    carried,
    reason,
    person,
  })
  const rest = await finishPruning(db, orgId, onStep)
  return { plan, seq, export_sha256, carried, ...rest }
}

/** Removes the rows below the cut that an interrupted pruning left. */
export async function finishPruning(
  db: Database<CoreTables>,
  orgId: string,
  onStep: OnPruneStep = () => undefined,
): Promise<Pick<Pruned, 'removed' | 'log_emptied'>> {
  await overwriteDeleted(db)
  const removed = await removePruned(db, orgId, (done) => onStep('removed', done))
  return { removed, log_emptied: removed === 0 || (await emptyLog(db)) }
}

/** Returns the key of this installation, from outside the database; it must be the one in force. */
async function ownKey({ db, signer }: PruneDeps, orgId: string): Promise<string> {
  const head = await findHead(db, orgId)
  if (!head) throw missingHead()
  return signerOf(signer, head).vkey
}

async function* counted(
  text: AsyncIterable<string>,
  onProgress: (done: number) => void,
): AsyncGenerator<string> {
  let lines = 0
  for await (const part of text) {
    lines += part.split('\n').length - 1
    onProgress(lines)
    yield part
  }
}
