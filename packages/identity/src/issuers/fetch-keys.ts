import type { KeySource } from '@remit/contract'
import { parseStrictJson } from '@remit/contract/json'
import { OutboundError } from '@remit/core/net'
import type { Outbound } from '@remit/core/net'
import { KeySetError, keySetOf } from './jwks.ts'
import type { KeySet } from './jwks.ts'

/** With every type last: some servers have key sets of a type of their own and refuse others (406). */
const ACCEPT = 'application/json, application/jwk-set+json, */*;q=0.1'
const MAX_DEPTH = 16

/** The discovery document of an issuer (OpenID Connect Discovery §4). */
const discoveryUrl = (issuer: string): string =>
  `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`

/** Fetches the issuer's keys. Throws `KeySetError` without any received text. */
export async function fetchKeys(
  outbound: Outbound,
  issuer: string,
  source: KeySource,
): Promise<KeySet> {
  if (source.type === 'inline') return keySetOf(source)
  const url = source.type === 'url' ? source.url : await discover(outbound, issuer)
  const keys = keySetOf(await getJson(outbound, url))
  if (keys.size === 0) throw new KeySetError('no_usable_key')
  return keys
}

async function discover(outbound: Outbound, issuer: string): Promise<string> {
  const found = (await getJson(outbound, discoveryUrl(issuer))) as Record<string, unknown>
  // The document of another issuer would name the other's keys.
  if (found['issuer'] !== issuer) throw new KeySetError('issuer_differs')
  const url = found['jwks_uri']
  if (typeof url !== 'string') throw new KeySetError('no_jwks_uri')
  return url
}

async function getJson(outbound: Outbound, url: string): Promise<unknown> {
  try {
    const { status, body } = await outbound.fetch(url, {
      method: 'GET',
      headers: { accept: ACCEPT },
    })
    if (status !== 200) throw new KeySetError('http_status')
    // Whatever its type says: file servers name any, and strict JSON tells a key set from a page.
    return parseJson(body)
  } catch (error) {
    throw error instanceof OutboundError ? new KeySetError(error.code) : error
  }
}

function parseJson(body: Uint8Array): unknown {
  try {
    return parseStrictJson(body, { maxDepth: MAX_DEPTH })
  } catch {
    throw new KeySetError('not_json')
  }
}
