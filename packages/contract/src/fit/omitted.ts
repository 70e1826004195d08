import { base64url, bytesOf } from './digest.ts'
import { canonical } from './json.ts'
import type { Json } from './json.ts'

/** The digest of a member that Remit must not see, by the tool and the JSON Pointer of the member. */
export type OmittedDigest = (tool: string, pointer: string, value: Json) => Promise<string>

type Key = Parameters<typeof crypto.subtle.sign>[1]

const encoder = new TextEncoder()
const HASH = { name: 'HMAC', hash: 'SHA-256', length: 256 } as const

/**
 * Digests with a key that is derived from a secret (HKDF, RFC 5869): equal values have equal digests, and who
 * reads them cannot try values without the secret.
 */
export function omittedDigest(secret: string): OmittedDigest {
  let derived: Promise<Key> | undefined
  return async (tool, pointer, value) => {
    const key = await (derived ??= derive(secret))
    const text = bytesOf(canonical([tool, pointer, value]))
    return base64url(new Uint8Array(await crypto.subtle.sign('HMAC', key, text)))
  }
}

async function derive(secret: string): Promise<Key> {
  const from = await crypto.subtle.importKey('raw', encoder.encode(secret), 'HKDF', false, [
    'deriveKey',
  ])
  const info = encoder.encode('remit omitted members')
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info }
  return crypto.subtle.deriveKey(hkdf, from, HASH, false, ['sign'])
}
