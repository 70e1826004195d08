import { mkdir, open, rename } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { readCheckpoint } from '@remit/core'

/** Checkpoints of one ledger that are kept in a file outside its database. */
export interface KeptNotes {
  /** Signed notes, in the order in which they were kept. */
  readonly notes: readonly string[]
  /** Something in the file is no checkpoint. */
  readonly damaged: boolean
}

/** Bytes of a file until the next one is begun, and that are read of one: thousands of checkpoints. */
const MAX_BYTES = 2 ** 20

/** Origin, size and root, an empty line, signatures. */
const NOTE = /^[^\s—][^\n]*\n\d+\n[A-Za-z0-9+/]+=*\n\n(?:— \S+ [A-Za-z0-9+/]+=*\n)+/gm

const fileOf = (folder: string, orgId: string): string => join(folder, `${orgId}.txt`)

/** The newest checkpoints that the folder holds of a ledger; none where there is no file. */
export async function readNotes(folder: string, orgId: string): Promise<KeptNotes> {
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

/** `cut`: the text begins anywhere, so what comes before the first note says nothing. */
export function notesIn(text: string, cut = false): KeptNotes {
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
 * Adds a checkpoint to the file of its ledger, so that it outlasts the machine. A file that has grown
 * large is set aside under its time first; where it cannot be (storage that only appends), it grows on.
 */
export async function appendNote(
  folder: string,
  orgId: string,
  note: string,
  now: number,
): Promise<void> {
  await mkdir(folder, { recursive: true })
  const path = fileOf(folder, orgId)
  let file = await open(path, 'a+')
  try {
    let { size } = await file.stat()
    if (size > MAX_BYTES && (await setAside(path, now))) {
      await file.close()
      file = await open(path, 'a+')
      size = 0
    }
    const last = Buffer.alloc(1)
    if (size > 0) await file.read(last, 0, 1, size - 1)
    // What was cut off must neither run into the next line nor pass for a whole one.
    const apart = size > 0 && last.toString() !== '\n' ? ' (cut off)\n\n' : ''
    await file.appendFile(`${apart}${note}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function setAside(path: string, now: number): Promise<boolean> {
  // Down to the millisecond, with no colon for file systems that take none: nothing is replaced.
  const time = new Date(now).toISOString().replaceAll(':', '')
  try {
    await rename(path, path.replace(/txt$/, `${time}.txt`))
    return true
  } catch {
    return false
  }
}
