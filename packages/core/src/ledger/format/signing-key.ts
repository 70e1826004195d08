import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { existsSync } from 'node:fs'
import { LRUCache } from 'lru-cache'
import { readWholeFile } from '../../base/regular-file.ts'
import { createSecretFile } from '../../secrets/secret-file.ts'
import { createNoteSigner } from './note.ts'
import type { NoteSigner } from './note.ts'

/** Signs checkpoints: one private key, and one key name (the log's origin) per organization. */
export interface LedgerSigner {
  forOrigin(origin: string): NoteSigner
}

const MAX_SIGNERS = 1_000

/** Creates a signer with an Ed25519 private key. */
export function createLedgerSigner(privateKey: KeyObject): LedgerSigner {
  const signers = new LRUCache<string, NoteSigner>({ max: MAX_SIGNERS })
  return {
    forOrigin(origin) {
      let signer = signers.get(origin)
      if (!signer) {
        signer = createNoteSigner({ name: origin, privateKey })
        signers.set(origin, signer)
      }
      return signer
    },
  }
}

/** Generates an Ed25519 key as PKCS #8 PEM. */
export const generateLedgerKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/**
 * Reads the PEM key of a file. With `create`, creates a missing one (mode 0600), the same for all
 * processes that start concurrently. The key belongs outside the database, so that access to the
 * database is not enough to sign.
 */
export function loadLedgerKey(path: string, create: boolean): KeyObject {
  if (create && !existsSync(path)) createSecretFile(path, generateLedgerKey())
  const key = createPrivateKey(readWholeFile(path))
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${path} is not an Ed25519 private key`)
  return key
}
