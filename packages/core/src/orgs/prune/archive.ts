import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fail } from '../../base/errors.ts'
import { writeWholeFile } from '../../base/whole-file.ts'

/** The destination of pruned entries. */
export interface Archive {
  /** Writes durably and returns the SHA-256 of the bytes, in hex. Never replaces a file. */
  write(text: AsyncIterable<string>): Promise<string>
  /** Reads the written bytes back. */
  read(): AsyncIterable<Uint8Array>
}

/** A file that only its owner can read. It gets its name when it is complete. */
export function fileArchive(path: string): Archive {
  return {
    async write(text) {
      if (existsSync(path))
        throw fail('invalid_request', `${path} already exists and is not replaced`)
      const sha256 = await writeWholeFile(path, (partial) => writeDurably(partial, text))
      await syncFolder(dirname(path))
      return sha256
    },
    read: () => createReadStream(path),
  }
}

async function writeDurably(path: string, text: AsyncIterable<string>): Promise<string> {
  const sha256 = createHash('sha256')
  const file = await open(path, 'r+')
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

/** The new directory entry must be durable too. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
