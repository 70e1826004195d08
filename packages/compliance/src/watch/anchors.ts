import { readNotes } from './checkpoint-files.ts'

export interface Anchors {
  readonly anchors: readonly string[]
  /** Sentences about what could not be read. */
  readonly unread: readonly string[]
  /** There should be a folder, and it holds nothing of the ledger. */
  readonly none: boolean
}

/** What the folder of checkpoints holds of a ledger. One that cannot be read is said to be so. */
export async function readAnchors(folder: string | undefined, orgId: string): Promise<Anchors> {
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
