import { rmSync } from 'node:fs'
import S3rver from '@20minutes/s3rver'
import { getObject, listObjects } from '@remit/core/net'
import type { Bucket } from '@remit/core/net'
import { scratchFolder } from '@remit/testing/pure'
import { loopback } from './sinks.ts'

/** A server of the S3 protocol on loopback with one bucket. */
export interface ObjectStore extends AsyncDisposable {
  /** The target of a sink. */
  readonly target: Readonly<Record<string, string>>
  keys(): Promise<string[]>
  get(key: string): Promise<Buffer>
}

const KEY = 'S3RVER'

export async function startObjectStore(): Promise<ObjectStore> {
  const directory = scratchFolder('s3')
  const name = 'remit-ledger'
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name, configs: [] }],
  })
  const { port } = await server.run()
  const endpoint = `http://127.0.0.1:${port}`
  const bucket: Bucket = {
    endpoint,
    bucket: name,
    region: 'us-east-1',
    accessKeyId: KEY,
    secretAccessKey: KEY,
  }
  return {
    target: {
      endpoint,
      bucket: name,
      region: 'us-east-1',
      access_key_id: KEY,
      secret_access_key: KEY,
    },
    async keys() {
      const { body } = await listObjects(loopback, bucket, '')
      const text = Buffer.from(body).toString('utf8')
      return [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => key)
    },
    get: async (key) => Buffer.from((await getObject(loopback, bucket, key)).body),
    async [Symbol.asyncDispose]() {
      await server.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
