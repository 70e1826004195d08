import type { SignatureAlg, KeySource } from '@remit/contract'
import { recording } from '@remit/core/ledger/lanes'
import { upTo, isoTime } from '@remit/core/base'
import { OutboundError } from '@remit/core/net'
import type { Outbound } from '@remit/core/net'
import { importJWK } from 'jose'
import type { CryptoKey, KeyObject } from 'jose'
import { LRUCache } from 'lru-cache'
import { parseStrictJson } from '@remit/contract/json'
import { actorOf } from '@remit/core/caller'
import type { Deps } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import type { TrustedIssuer } from './issuer.ts'
import { fits, KeySetError, keySetOf } from './jwks.ts'
import type { KeySet } from './jwks.ts'
import { changeIssuer, findIssuer } from './store.ts'

const FRESH_MS = 10 * 60 * 1000
/** Milliseconds for which old keys remain valid while the issuer is unreachable. */
const STALE_MS = 60 * 60 * 1000
/** Milliseconds between two fetches, whatever their result. */
const COOL_DOWN_MS = 30 * 1000
const MAX_ISSUERS = 10_000

/** The result of the last key fetch. `error` is a stable code. */
export interface KeyFetchResult {
  readonly keys: KeySet
  readonly fetchedAt: number | null
  readonly triedAt: number
  readonly error: string | null
}

/** Called after every fetch; `isNews` if the result differs from the previous one. */
export type OnKeyFetch = (
  issuer: TrustedIssuer,
  state: KeyFetchResult,
  isNews: boolean,
) => Promise<void>

type Imported = CryptoKey | KeyObject | Uint8Array

interface CachedKeys {
  state: KeyFetchResult | null
  /** The running fetch, shared by all callers. */
  pending: Promise<KeyFetchResult> | null
  readonly imported: Map<string, Imported>
}

/** The keys of trusted issuers, separate for each record. */
export class IssuerKeys {
  readonly #deps: Pick<Deps, 'outbound' | 'clock'>
  readonly #onLook: OnKeyFetch
  readonly #kept = new LRUCache<string, CachedKeys>(upTo(MAX_ISSUERS))

  constructor(deps: Pick<Deps, 'outbound' | 'clock'>, onLook: OnKeyFetch) {
    this.#deps = deps
    this.#onLook = onLook
  }

  /**
   * The issuer's key with an id for an algorithm, or the reason why there is none. An unknown id
   * causes one fetch, then none for a while.
   */
  async find(
    issuer: TrustedIssuer,
    kid: string,
    alg: SignatureAlg,
  ): Promise<Imported | 'kid_unknown' | 'fetch_failed'> {
    const kept = this.#of(issuer.id)
    const state = await this.#stateFor(issuer, kept, kid)
    if (this.#age(issuer, state) >= STALE_MS) return 'fetch_failed'
    const key = state.keys.get(kid)
    if (!key) return state.error === null ? 'kid_unknown' : 'fetch_failed'
    if (!fits(key, alg)) return 'kid_unknown'
    const name = `${alg} ${kid}`
    let imported = kept.imported.get(name)
    if (!imported) {
      try {
        imported = await importJWK(key, alg)
      } catch {
        return 'kid_unknown'
      }
      kept.imported.set(name, imported)
    }
    return imported
  }

  /** Names of the known keys of an issuer, or the reason why there are none. */
  known({ id }: TrustedIssuer): Readonly<Record<string, unknown>> {
    const { keys = new Map(), error = null } = this.#kept.peek(id)?.state ?? {}
    return { kid: [...keys.keys()], ...(error !== null && { keys_error: error }) }
  }

  /** Fetches the keys now, as at registration. */
  look(issuer: TrustedIssuer): Promise<KeyFetchResult> {
    const kept = this.#of(issuer.id)
    return (kept.pending ??= this.#fetch(issuer, kept).finally(() => {
      kept.pending = null
    }))
  }

  forget(id: string): void {
    this.#kept.delete(id)
  }

  async #stateFor(issuer: TrustedIssuer, kept: CachedKeys, kid: string): Promise<KeyFetchResult> {
    const { state } = kept
    if (!state) return this.look(issuer)
    if (issuer.terms.jwks.type === 'inline') return state
    if (this.#age(issuer, state) < FRESH_MS && state.keys.has(kid)) return state
    const isCooling = this.#deps.clock.now() - state.triedAt < COOL_DOWN_MS
    return isCooling && !kept.pending ? state : this.look(issuer)
  }

  /** Configured keys do not expire. */
  #age({ terms }: TrustedIssuer, { fetchedAt }: KeyFetchResult): number {
    if (terms.jwks.type === 'inline') return 0
    return fetchedAt === null ? Infinity : this.#deps.clock.now() - fetchedAt
  }

  async #fetch(issuer: TrustedIssuer, kept: CachedKeys): Promise<KeyFetchResult> {
    const triedAt = this.#deps.clock.now()
    const { keys: old = new Map(), fetchedAt = null, error: before = null } = kept.state ?? {}
    try {
      const keys = await fetchKeys(this.#deps.outbound, issuer.issuer, issuer.terms.jwks)
      kept.imported.clear()
      kept.state = { keys, fetchedAt: triedAt, triedAt, error: null }
    } catch (error) {
      if (!(error instanceof KeySetError)) throw error
      kept.state = { keys: old, fetchedAt, triedAt, error: error.code }
    }
    await this.#onLook(issuer, kept.state, kept.state.error !== before)
    return kept.state
  }

  #of(id: string): CachedKeys {
    let kept = this.#kept.get(id)
    if (!kept) {
      kept = { state: null, pending: null, imported: new Map() }
      this.#kept.set(id, kept)
    }
    return kept
  }
}

/** With every type last: some servers have key sets of a type of their own and refuse others (406). */
const ACCEPT = 'application/json, application/jwk-set+json, */*;q=0.1'
const MAX_DEPTH = 16

/** The discovery document of an issuer (OpenID Connect Discovery §4). */
const discoveryUrl = (issuer: string): string =>
  `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`

/** Fetches the issuer's keys. Throws `KeySetError` without any received text. */
async function fetchKeys(outbound: Outbound, issuer: string, source: KeySource): Promise<KeySet> {
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

/** Stores the result of a key fetch; a new failure is also recorded in the ledger. */
export const recordKeyFetch =
  ({ db, writer }: Pick<Deps, 'db' | 'writer'>): OnKeyFetch =>
  async ({ orgId, id, issuer }, { keys, fetchedAt, error }, isNews) => {
    await changeIssuer(db, orgId, id, {
      key_count: keys.size,
      fetched_at: fetchedAt === null ? null : isoTime(fetchedAt),
      fetch_error: error,
    })
    if (error === null || !isNews) return
    await writer.work(orgId, OPERATOR, async ({ tx }) => {
      // A record under creation has no entry yet.
      const row = await findIssuer(tx, orgId, id)
      const data = { idp_id: id, issuer, error }
      const entry = { kind: 'issuer.fetch_failed', actor: actorOf(null), data } as const
      return row ? recording(entry) : recording()
    })
  }
