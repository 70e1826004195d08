import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

/** Encrypts secrets in the database with keys outside of it. */
export interface SecretBox {
  /**
   * Encrypts a text under the current key. `place` names its row and column; the result can be
   * opened only for that place, so that secrets cannot be swapped between rows.
   */
  seal(text: string, place: string): string
  /** Decrypts a sealed text; throws `SecretUnreadable`. */
  open(sealed: string, place: string): string
  /** Returns true if a stored text is sealed under the current key. */
  isCurrent(stored: string): boolean
}

/** A sealed secret without a matching key, or a modified one. */
export class SecretUnreadable extends Error {
  readonly code = 'secret_unreadable'
  constructor(why: string) {
    super(why)
    this.name = 'SecretUnreadable'
  }
}

/** Bytes of a key: AES-256. */
export const SECRETS_KEY_BYTES = 32

const CIPHER = 'aes-256-gcm'
const PREFIX = 'enc1'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** `enc1.<key id>.<base64url of nonce, ciphertext and tag>`. */
const SEALED = /^enc1\.([0-9a-f]{8})\.([A-Za-z0-9_-]{38,})$/

/**
 * Seals with AES-256-GCM (NIST SP 800-38D) under a random nonce of 96 bits. The first key seals,
 * all keys open: a new key is inserted before the old one. Without keys, sealing and opening fail.
 */
export function createSecretBox(keys: readonly KeyObject[]): SecretBox {
  const byId = new Map(keys.map((key) => [secretsKeyId(key), key]))
  const [current] = byId.keys()
  const bound = (place: string) => Buffer.from(`${PREFIX}\n${place}`)
  return {
    seal(text, place) {
      const key = current && byId.get(current)
      if (!key) throw new SecretUnreadable('no key for the encryption of secrets is configured')
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(bound(place))
      const sealed = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return `${PREFIX}.${current}.${Buffer.concat(sealed).toString('base64url')}`
    },
    open(sealed, place) {
      const [, id = '', body = ''] = SEALED.exec(sealed) ?? []
      if (id === '') throw new SecretUnreadable('the stored secret is not encrypted')
      const key = byId.get(id)
      if (!key) throw new SecretUnreadable(`the key ${id} is not in the key file`)
      const bytes = Buffer.from(body, 'base64url')
      const nonce = bytes.subarray(0, NONCE_BYTES)
      const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
      decipher.setAAD(bound(place)).setAuthTag(bytes.subarray(-TAG_BYTES))
      try {
        const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch {
        throw new SecretUnreadable('the stored secret was changed or belongs to another row')
      }
    },
    isCurrent: (stored) => SEALED.exec(stored)?.[1] === current && current !== undefined,
  }
}

/**
 * Returns the id of a key, which is part of the sealed text: the first 32 bits of its SHA-256, in
 * hex.
 */
export const secretsKeyId = (key: KeyObject): string =>
  createHash('sha256').update(key.export()).digest('hex').slice(0, 8)

/** Generates a key as a line of the key file. */
export const generateSecretsKey = (): string =>
  `${randomBytes(SECRETS_KEY_BYTES).toString('base64')}\n`
