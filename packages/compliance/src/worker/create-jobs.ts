import { KeyServiceError } from '@remit/core/kms'
import type { Witness } from '@remit/core/kms'
import { NoteError } from '@remit/core/ledger/proofs'
import { unwitnessed } from '@remit/core/ledger/records'
import type { Deps } from '@remit/core/module'
import type {
  VerificationTrust,
  Jobs,
  JobWatch,
  LedgerCheck,
  ReportFacts,
  Task,
  Tally,
  ReplayResult,
} from '../jobs/jobs.ts'
import { readSavedCheckpoints } from '../watch/checkpoint-files.ts'
import type { SavedCheckpoints } from '../watch/checkpoint-files.ts'
import type { SeqRun } from '../facts/index.ts'
import { JobPool } from './pool.ts'
import { LocalRunner, ThreadRunner } from './runner.ts'

type JobDeps = Pick<Deps, 'db' | 'databaseUrl' | 'ledger' | 'settings' | 'verifierKey'>

const NO_TRUST: VerificationTrust = { vkeys: [], anchors: [], unread: [] }

type Asked<T> = T extends Task ? Omit<T, 'orgId' | 'trust'> : never

/** The long-running jobs: in threads, or on the event loop if no other thread can open the database. */
export function createJobs(deps: JobDeps): Jobs {
  const { databaseUrl } = deps
  const pool =
    databaseUrl === null
      ? new JobPool({
          start: () => new LocalRunner(deps.db),
          size: 1,
        })
      : new JobPool({ start: () => new ThreadRunner(databaseUrl) })
  const run = async (orgId: string, asked: Asked<Task>, watch?: JobWatch): Promise<unknown> => {
    const trust = await trustIn(deps, orgId)
    return pool.run({ ...asked, orgId, trust }, watch)
  }
  return {
    verify: (orgId, options = {}, watch) =>
      run(orgId, { kind: 'verify', options }, watch) as Promise<LedgerCheck>,
    report: (orgId, question, watch) =>
      run(orgId, { kind: 'report', question }, watch) as Promise<ReportFacts>,
    evidence: (orgId, query, watch) =>
      run(orgId, { kind: 'evidence', query }, watch) as Promise<SeqRun>,
    replay: (orgId, task, watch) =>
      run(orgId, { kind: 'replay', replay: task }, watch) as Promise<ReplayResult | null>,
    // Counting verifies nothing.
    tally: (orgId, fromSeq) =>
      pool.run({ kind: 'tally', fromSeq, orgId, trust: NO_TRUST }) as Promise<Tally>,
    close: () => pool.close(),
  }
}

/**
 * Data from outside the database. Read before the ledger, so that no checkpoint is newer than the
 * entries read.
 */
async function trustIn(deps: JobDeps, orgId: string): Promise<VerificationTrust> {
  const outside = await readSavedCheckpoints(deps.settings.checkpointDir, orgId)
  try {
    const origin: unknown = await deps.ledger.origin(orgId)
    // Null without a ledger; and SQLite stores any type in the head.
    if (typeof origin !== 'string') return { ...outside, vkeys: [] }
    const witnessed = await checkWitness(deps.settings.witness, origin, outside)
    return { ...outside, ...witnessed, vkeys: [deps.verifierKey(origin)] }
  } catch (error) {
    // An invalid origin cannot name a key; the verification reports it.
    if (error instanceof NoteError) return { ...outside, vkeys: [] }
    throw error
  }
}

/** The saved checkpoints that lack the signature of the configured witness, and limits of this. */
async function checkWitness(
  witness: Witness | undefined,
  origin: string,
  { anchors, unread }: SavedCheckpoints,
): Promise<Partial<Pick<SavedCheckpoints, 'unread'>> & { unwitnessed?: readonly string[] }> {
  if (witness === undefined || anchors.length === 0) return {}
  try {
    const missing = unwitnessed(anchors, await witness.vkey(origin))
    return missing === null ? { unread: [...unread, NONE] } : { unwitnessed: [...missing] }
  } catch (error) {
    if (!(error instanceof KeyServiceError)) throw error
    return { unread: [...unread, UNKNOWN] }
  }
}

const NONE = 'The signatures of the witness: it has signed none of the saved checkpoints.'
const UNKNOWN = 'The signatures of the witness: its service did not tell its key.'
