import { createPrivateKey, createPublicKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CliError } from './errors.ts'
import { userPath } from './user-path.ts'

/** Returns the text of a file; throws `CliError` if reading fails. */
export function readText(path: string): string {
  try {
    return readFileSync(userPath(path), 'utf8')
  } catch (error) {
    throw new CliError(`${path} cannot be read: ${fileFault(error)}`)
  }
}

/** Writes a file that only its owner can read; throws `CliError` instead of replacing one. */
export function writeSecret(path: string, text: string): void {
  try {
    const file = userPath(path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    throw new CliError(
      (error as { code?: string }).code === 'EEXIST'
        ? `${path} already exists and is not replaced`
        : `${path} cannot be written: ${fileFault(error)}`,
    )
  }
}

/** Writes to a temporary file and renames it, so that the named file is always complete. */
export async function writeWhole(
  chunks: AsyncIterable<string> | Iterable<string>,
  path: string,
): Promise<void> {
  const whole = userPath(path)
  const partial = `${whole}.partial`
  try {
    await pipeline(Readable.from(chunks), createWriteStream(partial, { flush: true }))
    await rename(partial, whole)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

/** Reads the Ed25519 private key of a PEM file. */
export const readPrivateKey = (path: string): KeyObject =>
  readKey(path, 'private', createPrivateKey)

/** Reads the Ed25519 public key of a PEM file; for a private key, its public half. */
export const readPublicKey = (path: string): KeyObject => readKey(path, 'public', createPublicKey)

function readKey(path: string, half: string, parse: (text: string) => KeyObject): KeyObject {
  const text = readText(path)
  let key: KeyObject | null = null
  try {
    key = parse(text)
  } catch {
    // The reason contains internals of OpenSSL, so it is omitted.
  }
  if (key?.asymmetricKeyType !== 'ed25519')
    throw new CliError(`${path} is not an Ed25519 ${half} key`)
  return key
}

const FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EMFILE: 'too many files are open',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'the name is too long',
}

/** Returns the reason why a file cannot be used. */
export function fileFault(error: unknown): string {
  const { code } = error as { code?: string }
  const known = code === undefined ? undefined : FAULTS[code]
  return known ?? (error instanceof Error ? error.message : String(error))
}
