declare module '@20minutes/s3rver' {
  import type { AddressInfo } from 'node:net'

  /** A server of the S3 protocol, with files in a folder. */
  export default class S3rver {
    constructor(options: {
      readonly address: string
      readonly port: number
      readonly silent: boolean
      readonly directory: string
      readonly configureBuckets: readonly { readonly name: string; readonly configs: string[] }[]
    })
    run(): Promise<AddressInfo>
    close(): Promise<void>
  }
}
