import { createPrivateKey, createPublicKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import {
  closeSync,
  createReadStream,
  createWriteStream,
  lstatSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { makeFolder, readWholeFile, requireRegularFile, writeWholeFile } from '@remit/core/base'
import { isUnavailable } from '@remit/core/db'
import { fileFault, isSystemError } from '../settings/read-file.ts'
import { CliError, EXIT } from './errors.ts'
import { userPath } from './options.ts'

/** Returns the text of a file; throws `CliError` if reading fails or the file is too large. */
export function readText(path: string, maxMib?: number): string {
  try {
    return readWholeFile(userPath(path), maxMib).toString()
  } catch (error) {
    throw new CliError(`${path} cannot be read: ${fileFault(error)}`)
  }
}

/** Writes a file that only its owner can read; throws `CliError` instead of replacing one. */
export function writeSecret(path: string, text: string): void {
  try {
    const file = userPath(path)
    makeFolder(dirname(file))
    writeNew(file, text)
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST')
      throw new CliError(`${path} already exists and is not replaced`)
    throw new CliError(`${path} cannot be written: ${fileFault(error)}`)
  }
}

function writeNew(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(file, text)
  } catch (error) {
    // A part of it, on a full disk, would stand in the way of the next attempt.
    rmSync(path)
    throw error
  } finally {
    closeSync(file)
  }
}

/** The option of every command that writes a file by name, other than a key. */
export const REPLACE = ['--replace', 'Replace the file if it exists'] as const

/**
 * Throws `CliError` for a file that exists, unless it is to be replaced; a folder, pipe or device never is.
 * Called before the work, so that none is done in vain.
 */
export function admitFile(path: string, isReplaced = false): void {
  const file = userPath(path)
  if (!lstatSync(file, { throwIfNoEntry: false })) return
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false)
    throw new CliError(`${path} exists and is not a regular file`)
  if (!isReplaced)
    throw new CliError(`${path} already exists and is not replaced; --replace replaces it`)
}

/**
 * Writes a file that only its owner can read, and that is always complete. Replaces a file, but no
 * folder, pipe or device; `admitFile` comes before it.
 */
export async function writeWhole(
  chunks: AsyncIterable<string> | Iterable<string>,
  path: string,
): Promise<void> {
  await writing(path, async (whole) => {
    if (statSync(whole, { throwIfNoEntry: false })?.isFile() === false)
      throw new CliError(`${path} exists and is not a regular file`)
    await writeWholeFile(whole, (partial) =>
      pipeline(Readable.from(chunks), createWriteStream(partial, { flags: 'r+', flush: true })),
    )
  })
}

/** Runs work that writes a file; throws `CliError` with the given path if the system prevents it. */
export async function writing<T>(path: string, write: (file: string) => Promise<T>): Promise<T> {
  try {
    return await write(userPath(path))
  } catch (error) {
    // The database may fail too while the file is written.
    if (!isSystemError(error) || isUnavailable(error)) throw error
    throw new CliError(`${path} cannot be written: ${fileFault(error)}`)
  }
}

/** The bytes of a file of any size. Throws `CliError` if reading fails. */
export const bytesOf = (path: string): AsyncGenerator<Buffer> =>
  bytesFrom(path, () => {
    const file = userPath(path)
    requireRegularFile(file)
    return createReadStream(file)
  })

/** The bytes of standard input. Throws `CliError` if reading fails. */
export const bytesOfInput = ({ stdin }: Io): AsyncGenerator<Buffer> =>
  bytesFrom(STANDARD_INPUT, () => stdin)

export const STANDARD_INPUT = 'standard input'

async function* bytesFrom(name: string, open: () => Readable): AsyncGenerator<Buffer> {
  try {
    yield* open() as AsyncIterable<Buffer>
  } catch (error) {
    throw new CliError(`${name} cannot be read: ${fileFault(error)}`)
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

/** The streams of a command; tests use their own. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: Readable
  readonly stdout: Writable
  /** Errors, progress and the log. */
  readonly stderr: Writable & { readonly isTTY?: boolean }
  /** Returns a signal that aborts when the process is asked to exit; a second request kills it. */
  endSignal(): AbortSignal
  /** Called when the server accepts requests. */
  serving?: () => void
}

export function processIo(): Io {
  process.stdout.once('error', (error: NodeJS.ErrnoException) => {
    // The reader of the output may close it early, as `head` does.
    if (error.code !== 'EPIPE')
      process.stderr.write(`remit: standard output cannot be written: ${fileFault(error)}\n`)
    process.exit(EXIT.couldNotRun)
  })
  return {
    env: process.env,
    // Lazy: opening it would keep a process alive that does not read.
    get stdin() {
      return process.stdin
    },
    stdout: process.stdout,
    stderr: process.stderr,
    endSignal() {
      const controller = new AbortController()
      const end = () => {
        process.off('SIGTERM', end).off('SIGINT', end)
        controller.abort()
      }
      process.on('SIGTERM', end).on('SIGINT', end)
      return controller.signal
    },
  }
}

/** Resolves when the results are written. If that fails, the stream has an error. */
export const written = ({ stdout }: Io): Promise<void> =>
  new Promise((resolve) => {
    stdout.write('', () => resolve())
  })
