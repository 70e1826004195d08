import {
  CheckpointError,
  NoteError,
  openCheckpoint,
  parseVerifierKey,
  verifyConsistency,
} from '@remit/core'
import type { Checkpoint } from '@remit/core'
import type { LogClient } from './log-client.ts'
import type { WatchState } from './state.ts'

/** The log broke its promise: it shrank, shows another history, or is signed by somebody else. */
export class LogAlarm extends Error {
  readonly kind: 'signature' | 'shrank' | 'forked'
  constructor(kind: LogAlarm['kind'], message: string) {
    super(message)
    this.name = 'LogAlarm'
    this.kind = kind
  }
}

/** A look at a log that found it in order. */
export interface Look {
  readonly state: WatchState
  /** The key was taken from the log itself, on its word. */
  readonly pinned: boolean
  /** Entries since the last look; null on the first. */
  readonly grown: number | null
}

/**
 * One look: the newest checkpoint must be signed by the pinned key and must extend the one of the
 * last look, which the log has to prove. `vkey` pins a key from outside, also in place of the one
 * in the state. Throws `LogAlarm`, or `NoAnswer` when the log could not be judged.
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
    // The key's name is the log's origin: another log signed with the same key is another name.
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
  // Equal sizes need no proof, only the same root: there is nothing to ask the log for.
  const proof = size === last.size ? [] : await client.consistency(last.size, size)
  if (!verifyConsistency({ from: last.size, to: size, fromRoot: last.root, toRoot: root, proof })) {
    throw new LogAlarm(
      'forked',
      `the log of ${size} entries is not an extension of the ${last.size} entries of ${last.checked_at}`,
    )
  }
}
