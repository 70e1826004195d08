import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'

/**
 * Writes a file that only its owner can read, under a name of its own until it is complete: nobody can
 * put a link there, two writers do not meet, and a killed one leaves nothing that looks whole.
 */
export async function writeWholeFile<T>(
  path: string,
  write: (partial: string) => Promise<T>,
): Promise<T> {
  const partial = `${path}.${randomUUID()}.partial`
  const file = await open(partial, 'wx', 0o600)
  await file.close()
  try {
    const written = await write(partial)
    await rename(partial, path)
    return written
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}
