import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fail } from '../../base/errors.ts'

/** Where what is pruned goes before it goes. */
export interface Archive {
  /** Durable once it resolves; gives the SHA-256 of the bytes, in hex. Never replaces anything. */
  write(text: AsyncIterable<string>): Promise<string>
  /** What was written, as it is read back. */
  read(): AsyncIterable<Uint8Array>
}

/** A file that only its owner may read. What bears the name is complete. */
export function fileArchive(path: string): Archive {
  return {
    async write(text) {
      if (existsSync(path)) throw fail('invalid_request', `${path} exists; it is not replaced`)
      const partial = `${path}.partial`
      try {
        const sha256 = await writeDurably(partial, text)
        await rename(partial, path)
        await syncFolder(dirname(path))
        return sha256
      } catch (error) {
        await rm(partial, { force: true })
        throw error
      }
    },
    read: () => createReadStream(path),
  }
}

async function writeDurably(path: string, text: AsyncIterable<string>): Promise<string> {
  const sha256 = createHash('sha256')
  const file = await open(path, 'w', 0o600)
  try {
    for await (const part of text) {
      sha256.update(part)
      await file.write(part)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return sha256.digest('hex')
}

/** The new name itself must survive too. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
