/** The configuration of a server process. */
export interface ServerSpec {
  readonly kind: 'echo' | 'remit'
  readonly databaseUrl?: string
  /** PKCS #8 PEM of the ledger's key. */
  readonly signingKey?: string
  /** Decisions connect to the nodes of a cluster. */
  readonly toNodes?: boolean
  /** An organization of another process. */
  readonly organization?: BenchOrganization
  /** Requests per second per key. Default: no limit. */
  readonly rateLimit?: number
}

export interface BenchOrganization {
  readonly key: string
  readonly orgId: string
}

/** Resources that a server process has used since its start. */
export interface Usage {
  readonly cpuSeconds: number
  /** Of the main thread, which decides. */
  readonly mainCpuSeconds: number
  readonly rssBytes: number
}

export type ToServer = 'usage' | 'memory' | 'organization' | 'stop'

export type FromServer =
  | {
      readonly kind: 'ready'
      readonly port: number
      readonly organization: BenchOrganization
    }
  /** Another organization, as requested. */
  | { readonly kind: 'organization'; readonly organization: BenchOrganization }
  | ({ readonly kind: 'usage' } & Usage)
  /** The heap after a garbage collection. */
  | { readonly kind: 'memory'; readonly heapBytes: number }
