import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { writeNewFile } from '../../base/whole-file.ts'

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
    write: (text) => writeNewFile(path, (partial) => writeText(partial, text)),
    read: () => createReadStream(path),
  }
}

async function writeText(path: string, text: AsyncIterable<string>): Promise<string> {
  const sha256 = createHash('sha256')
  const file = await open(path, 'r+')
  try {
    for await (const part of text) {
      sha256.update(part)
      await file.write(part)
    }
  } finally {
    await file.close()
  }
  return sha256.digest('hex')
}
