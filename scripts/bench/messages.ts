/** What a server process is to be. */
export interface ServerSpec {
  readonly kind: 'echo' | 'remit'
  readonly databaseUrl?: string
  /** PKCS #8 PEM of the ledger's key. */
  readonly signingKey?: string
  /** 1 commits every request alone. */
  readonly maxBatch?: number
  /** An organization that another process made. */
  readonly organization?: { readonly key: string; readonly orgId: string }
}

export type ToServer = 'usage' | 'stop'

export type FromServer =
  | {
      readonly kind: 'ready'
      readonly port: number
      readonly organization: { readonly key: string; readonly orgId: string }
    }
  | { readonly kind: 'usage'; readonly cpuSeconds: number; readonly rssBytes: number }
