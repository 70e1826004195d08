import type { Client } from '@remit/contract/client'
import type { OmittedDigest } from '@remit/contract/fit'
import type { GatewayMapping } from './question.ts'
import type { RequestStates } from './request-state.ts'
import type { Catalog } from '../tools/catalog.ts'

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
