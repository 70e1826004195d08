import { boundedText } from '../net/outbound.ts'

/** A key that never leaves its service. Every method rejects with `KeyServiceError`. */
export interface RemoteKey {
  /** Returns the 32 bytes of the newest Ed25519 public key. */
  publicKey(): Promise<Uint8Array>
  /** Signs with the newest key, with plain Ed25519 (RFC 8032); returns 64 bytes. */
  sign(message: Uint8Array): Promise<Uint8Array>
  /** Decrypts what the service encrypted: base64 of AWS KMS, or the text of Vault. */
  decrypt(ciphertext: string): Promise<Buffer>
}

/** The service did not answer, refused, or answered something else. Contains no secrets. */
export class KeyServiceError extends Error {
  override readonly name = 'KeyServiceError'
}

export type Env = Readonly<Record<string, string | undefined>>

const TIMEOUT_MS = 5_000
/** Vault describes every version of a key, each with about 200 bytes. */
const MAX_BYTES = 1024 * 1024

/** A request with JSON, and its JSON response; anything but status 200 is an error. */
export async function askService(
  name: string,
  url: string,
  request: {
    readonly method: 'GET' | 'POST'
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
  },
): Promise<Readonly<Record<string, unknown>>> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await fetch(url, { ...request, signal, redirect: 'error' })
    const text = await boundedText(response, MAX_BYTES)
    if (response.status !== 200) throw new KeyServiceError(`${name} answered ${response.status}`)
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch (error) {
    if (error instanceof KeyServiceError) throw error
    throw new KeyServiceError(`${name} did not answer`)
  }
}

/** The bytes of a member of a response in base64. */
export function bytesOf(name: string, value: unknown, length?: number): Buffer {
  const bytes = Buffer.from(typeof value === 'string' ? value : '', 'base64')
  if (bytes.length === 0 || (length !== undefined && bytes.length !== length))
    throw new KeyServiceError(`${name} answered without the expected value`)
  return bytes
}

/** A variable of the environment that the service needs. */
export function needed(name: string, env: Env, variable: string): string {
  const value = env[variable]
  if (value === undefined || value === '')
    throw new KeyServiceError(`${name} needs the environment variable ${variable}`)
  return value
}

/** A key of a key management service, as settings name it. */
export type KeyReference =
  | { readonly service: 'awskms'; readonly key: string }
  | { readonly service: 'vault'; readonly mount: string; readonly key: string }

/** The rule of `parseKeyReference`, for messages: "must be …". */
export const KEY_REFERENCE_RULE = 'awskms:<key id or ARN> or vault+transit:<mount>/<key>'

/** Parses a key reference; null for any other text. */
export function parseKeyReference(text: string): KeyReference | null {
  const [, aws] = /^awskms:([A-Za-z0-9:/_-]{1,2048})$/.exec(text) ?? []
  if (aws !== undefined) return { service: 'awskms', key: aws }
  const [, mount, key] =
    /^vault\+transit:([A-Za-z0-9_-]+(?:\/[A-Za-z0-9_-]+)*)\/([A-Za-z0-9_.-]+)$/.exec(text) ?? []
  return mount === undefined || key === undefined ? null : { service: 'vault', mount, key }
}
