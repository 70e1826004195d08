import { open, rename } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '@remit/core/base'
import { readCheckpoint } from '@remit/core/ledger/proofs'

/** Checkpoints of one ledger in a file outside its database. */
export interface SavedNotes {
  /** Signed notes, in the order of writing. */
  readonly notes: readonly string[]
  /** The file contains something other than checkpoints. */
  readonly damaged: boolean
}

/** The maximum bytes per file, and bytes to read: thousands of checkpoints. */
const MAX_BYTES = 2 ** 20

/** Origin, size and root, an empty line, signatures. */
const NOTE = /^[^\s—][^\n]*\n\d+\n[A-Za-z0-9+/]+=*\n\n(?:— \S+ [A-Za-z0-9+/]+=*\n)+/gm

const fileOf = (folder: string, orgId: string): string => join(folder, `${orgId}.txt`)

/** The newest checkpoints of a ledger in the folder; none without a file. */
export async function readNotes(folder: string, orgId: string): Promise<SavedNotes> {
  let file: FileHandle
  try {
    file = await open(fileOf(folder, orgId))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { notes: [], damaged: false }
    throw error
  }
  try {
    const { size } = await file.stat()
    const from = Math.max(0, size - MAX_BYTES)
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(size - from),
      position: from,
    })
    return notesIn(buffer.toString('utf8', 0, bytesRead), from > 0)
  } finally {
    await file.close()
  }
}

/** `cut`: the text starts at an arbitrary position, so text before the first note is ignored. */
export function notesIn(text: string, cut = false): SavedNotes {
  const notes: string[] = []
  let rest = ''
  let at = 0
  for (const { 0: note, index } of text.matchAll(NOTE)) {
    if (at > 0 || !cut) rest += text.slice(at, index)
    at = index + note.length
    if (readCheckpoint(note) === null) rest += note
    else notes.push(note)
  }
  return { notes, damaged: (rest + text.slice(at)).trim() !== '' }
}

/**
 * Appends a checkpoint to the file of its ledger and syncs it. A large file is renamed with its
 * time first; if renaming is impossible (append-only storage), the file grows.
 */
export async function appendNote(
  folder: string,
  orgId: string,
  note: string,
  now: number,
): Promise<void> {
  const path = fileOf(folder, orgId)
  let file = await openToAppend(path)
  try {
    let { size } = await file.stat()
    if (size > MAX_BYTES && (await setAside(path, now))) {
      await file.close()
      file = await open(path, 'a+')
      size = 0
    }
    const last = Buffer.alloc(1)
    if (size > 0) await file.read(last, 0, 1, size - 1)
    // A partial last line must not merge with the next one or look complete.
    const apart = size > 0 && last.toString() !== '\n' ? ' (cut off)\n\n' : ''
    await file.appendFile(`${apart}${note}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function openToAppend(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'a+')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    makeFolder(dirname(path))
    return open(path, 'a+')
  }
}

async function setAside(path: string, now: number): Promise<boolean> {
  // Milliseconds make it unique; some file systems do not allow colons.
  const time = new Date(now).toISOString().replaceAll(':', '')
  try {
    await rename(path, path.replace(/txt$/, `${time}.txt`))
    return true
  } catch {
    return false
  }
}

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
