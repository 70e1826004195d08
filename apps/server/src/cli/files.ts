import { createPrivateKey, createPublicKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CliError } from './errors.ts'

/** The text of a file; throws `CliError` when it cannot be read. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new CliError(`${path} cannot be read: ${codeOf(error)}`)
  }
}

/** Writes a file that only its owner may read; throws `CliError` rather than replace one. */
export function writeSecret(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    const code = codeOf(error)
    throw new CliError(
      code === 'EEXIST'
        ? `${path} exists; it is not replaced`
        : `${path} cannot be written: ${code}`,
    )
  }
}

/** Through a file beside it: what bears the name is complete. */
export async function writeWhole(
  chunks: AsyncIterable<string> | Iterable<string>,
  path: string,
): Promise<void> {
  const partial = `${path}.partial`
  try {
    await pipeline(Readable.from(chunks), createWriteStream(partial, { flush: true }))
    await rename(partial, path)
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

/** The Ed25519 private key of a PEM file. */
export const readPrivateKey = (path: string): KeyObject =>
  readKey(path, 'private', createPrivateKey)

/** The Ed25519 public key of a PEM file; of a private one, its public half. */
export const readPublicKey = (path: string): KeyObject => readKey(path, 'public', createPublicKey)

function readKey(path: string, half: string, parse: (text: string) => KeyObject): KeyObject {
  const text = readText(path)
  let key: KeyObject | null = null
  try {
    key = parse(text)
  } catch {
    // The reason names internals of OpenSSL; that it is not such a key is all there is to say.
  }
  if (key?.asymmetricKeyType !== 'ed25519')
    throw new CliError(`${path} is not an Ed25519 ${half} key`)
  return key
}

const codeOf = (error: unknown): string =>
  (error as { code?: string }).code ?? (error instanceof Error ? error.message : String(error))
