import type { Client } from '@remit/contract/client'
import { omittedDigest } from '@remit/contract/fit'
import type { OmittedDigest } from '@remit/contract/fit'
import type { GatewayMapping } from './question.ts'
import { RequestStates } from './request-state.ts'
import { Catalog } from '../tools/catalog.ts'
import { Visibility } from '../tools/visibility.ts'

/** One upstream behind the gateway, and how its calls are governed. */
export interface Governed {
  readonly client: Client
  readonly upstream: string
  readonly agentId: string | undefined
  readonly settings: Settings
  readonly mappings: Readonly<Record<string, GatewayMapping>>
  /** Binds the members that a mapping omits. */
  readonly digest: OmittedDigest
  readonly states: RequestStates
  /** Null where the owner of a server governs it: it trusts its own tools. */
  readonly catalog: Catalog | null
  /** Address of the page of an approval. */
  readonly approvalUrl: (approvalId: string) => string
  /** Runs work that may outlive the credential of its request. */
  readonly afterwards: <T>(work: () => T) => T
  /** Receives each warning; a gateway on stdio writes it to stderr. */
  readonly warn: (message: string) => void
}

export interface Settings {
  /** A denied tool call becomes a result with `isError`, or a JSON-RPC error. */
  readonly deny: 'result' | 'error'
  /** Requests with a method that the revision does not define. */
  readonly unknown: 'refuse' | 'forward'
  /** Check results with the guard: not at all, noted for later calls, or withheld where the guard blocks. */
  readonly results: 'off' | 'note' | 'withhold'
  /** Milliseconds that a call waits for an approval, where the client can do nothing else. */
  readonly holdMs: number
  /** Members of `_meta` that the server does not get. */
  readonly dropMeta: readonly string[]
}

export interface GovernOptions {
  readonly url: string
  /** Asks for decisions, as the agent where it has its credential. */
  readonly client: Client
  /** Reports the tools of the server; the same client unless given. */
  readonly reporter?: Client
  /** Key of the signatures of `requestState`. */
  readonly secret: string
  /** Secret for the digests of omitted members; the same unless given. */
  readonly omitKey?: string | undefined
  readonly agentId: string | undefined
  readonly upstream: string
  /** Null where the owner of a server governs it: it trusts its own tools. */
  readonly trust: 'pinned' | 'first-use' | null
  readonly settings: Settings
  readonly mappings: Readonly<Record<string, GatewayMapping>>
  /** Runs work that may outlive the credential of its request; as it is unless given. */
  readonly afterwards?: Governed['afterwards']
  readonly warn: (message: string) => void
}

/** One upstream, governed by the Remit at `url`. */
export function governedWith(options: GovernOptions): Governed {
  const { url, client, secret, agentId, upstream, trust, settings, mappings, warn } = options
  const { reporter = client, afterwards = (work) => work(), omitKey = secret } = options
  const visibility = new Visibility({ client, agentId, mappings })
  return {
    client,
    upstream,
    agentId,
    settings,
    mappings,
    digest: omittedDigest(omitKey),
    states: new RequestStates(secret),
    catalog: trust && new Catalog({ client: reporter, upstream, trust, visibility }),
    approvalUrl: (id) => new URL(`/console/approvals/${id}`, url).href,
    afterwards,
    warn,
  }
}

/** Nobody must be able to try all secrets. Throws a `TypeError` that names the setting. */
export function checkedOmitKey(secret: string | undefined, setting: string): string | undefined {
  if (secret === undefined || secret.length >= MIN_SECRET) return secret
  throw new TypeError(`${setting} must have at least ${MIN_SECRET} characters`)
}

const MIN_SECRET = 32
