import { readNotes } from './checkpoint-files.ts'

export interface SavedCheckpoints {
  readonly anchors: readonly string[]
  /** Sentences about unreadable parts. */
  readonly unread: readonly string[]
  /** The configured folder contains nothing for this ledger. */
  readonly none: boolean
}

/** Reads the checkpoints of a ledger from the folder. Unreadable ones are reported. */
export async function readSavedCheckpoints(
  folder: string | undefined,
  orgId: string,
): Promise<SavedCheckpoints> {
  if (folder === undefined) return { anchors: [], unread: [], none: false }
  try {
    const { notes, damaged } = await readNotes(folder, orgId)
    return {
      anchors: notes,
      unread: damaged ? [DAMAGED] : [],
      none: notes.length === 0 && !damaged,
    }
  } catch (error) {
    const { code = 'error' } = error as NodeJS.ErrnoException
    return {
      anchors: [],
      unread: [`The checkpoints in REMIT_CHECKPOINT_DIR: reading failed with ${code}.`],
      none: false,
    }
  }
}

const DAMAGED = 'A part of the file in REMIT_CHECKPOINT_DIR: it is not a checkpoint.'
