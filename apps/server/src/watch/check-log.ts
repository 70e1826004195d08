import {
  CheckpointError,
  NoteError,
  openCheckpoint,
  parseVerifierKey,
  verifyConsistency,
} from '@remit/core/ledger/proofs'
import type { Checkpoint } from '@remit/core/ledger/proofs'
import type { LogClient } from './log-client.ts'
import type { WatchState } from './state.ts'

/** The log is not append-only: it shrank, has another history, or has another signer. */
export class LogAlarm extends Error {
  readonly kind: 'signature' | 'shrank' | 'forked'
  constructor(kind: LogAlarm['kind'], message: string) {
    super(message)
    this.name = 'LogAlarm'
    this.kind = kind
  }
}

/** A successful check of a log. */
export interface Look {
  readonly state: WatchState
  /** True if the key was pinned on first use. */
  readonly pinned: boolean
  /** Entries since the last check; null on the first. */
  readonly grown: number | null
}

/**
 * Checks a log once: the newest checkpoint must be signed by the pinned key and extend that of the
 * last check, which the log has to prove. `vkey` pins a given key and overrides that of the state.
 * Throws `LogAlarm`, or `NoAnswer` if the check could not be made.
 */
export async function checkLog(
  client: LogClient,
  last: WatchState | null,
  vkey: string | undefined,
  now: string,
): Promise<Look> {
  const answer = await client.checkpoint()
  const pin = vkey ?? last?.vkey
  const state = { vkey: pin ?? answer.vkey, note: answer.note, checked_at: now }
  const { size, root } = open(answer.note, state.vkey)
  if (last) await demandGrowth(client, last, { size, root })
  return {
    state: { ...state, size, root },
    pinned: pin === undefined,
    grown: last && size - last.size,
  }
}

function open(note: string, vkey: string): Checkpoint {
  try {
    const verifier = parseVerifierKey(vkey)
    // The key name is the origin of the log: another log signed with the same key has another name.
    return openCheckpoint(note, verifier, verifier.name)
  } catch (error) {
    if (!(error instanceof NoteError) && !(error instanceof CheckpointError)) throw error
    throw new LogAlarm(
      'signature',
      `the checkpoint is not signed by the pinned key ${vkey}: ${error.message}`,
    )
  }
}

async function demandGrowth(
  client: LogClient,
  last: WatchState,
  { size, root }: Pick<Checkpoint, 'size' | 'root'>,
): Promise<void> {
  if (size < last.size) {
    throw new LogAlarm(
      'shrank',
      `the log shrank to ${size} entries from ${last.size} on ${last.checked_at}`,
    )
  }
  // Equal sizes need no proof, only equal roots.
  const proof = size === last.size ? [] : await client.consistency(last.size, size)
  if (!verifyConsistency({ from: last.size, to: size, fromRoot: last.root, toRoot: root, proof })) {
    throw new LogAlarm(
      'forked',
      `the log of ${size} entries is not an extension of the ${last.size} entries of ${last.checked_at}`,
    )
  }
}
