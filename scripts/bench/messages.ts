/** What a server process is to be. */
export interface ServerSpec {
  readonly kind: 'echo' | 'remit'
  readonly databaseUrl?: string
  /** PKCS #8 PEM of the ledger's key. */
  readonly signingKey?: string
  /** 1 commits every request alone. */
  readonly maxBatch?: number
  /** An organization that another process made. */
  readonly organization?: BenchOrganization
  /** Requests a second per key; no limit unless given. */
  readonly rateLimit?: number
}

/** An organization with its admin key. */
export interface BenchOrganization {
  readonly key: string
  readonly orgId: string
}

export type ToServer = 'usage' | 'organization' | 'stop'

export type FromServer =
  | {
      readonly kind: 'ready'
      readonly port: number
      readonly organization: BenchOrganization
    }
  /** One more, as asked for. */
  | { readonly kind: 'organization'; readonly organization: BenchOrganization }
  | { readonly kind: 'usage'; readonly cpuSeconds: number; readonly rssBytes: number }
