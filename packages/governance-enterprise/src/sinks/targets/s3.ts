import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { putObject } from '@remit/core/net'
import { ndjson, requireSuccess } from './target.ts'
import type { Batch, Send } from './target.ts'

const compress = promisify(gzip)

/**
 * Stores a batch as an object of compressed NDJSON, and beside it the signed checkpoint that covers
 * it. The name has the first and the last entry, so a repeated batch replaces itself.
 */
export const sendS3: Send = async (outbound, target, batch) => {
  const bucket = {
    endpoint: target.endpoint,
    bucket: target.bucket,
    region: target.region,
    accessKeyId: target.access_key_id,
    secretAccessKey: target.secret_access_key,
  }
  const name = nameOf(target.prefix ?? '', batch)
  const body = await compress(ndjson(batch))
  const object = { key: `${name}.ndjson.gz`, body, contentType: 'application/gzip' }
  requireSuccess(await putObject(outbound, bucket, object))
  const note = { body: Buffer.from(batch.note), contentType: 'text/plain; charset=utf-8' }
  requireSuccess(await putObject(outbound, bucket, { key: `${name}.checkpoint.txt`, ...note }))
}

/** `<prefix><org>/yyyy/mm/dd/hh/<from>-<to>`, so that names sort like entries. */
function nameOf(prefix: string, { orgId, at, from, to }: Batch): string {
  const hour = at.slice(0, 13).replaceAll(/[-T]/g, '/')
  return `${prefix}${orgId}/${hour}/${padded(from)}-${padded(to)}`
}

const padded = (seq: number): string => String(seq).padStart(16, '0')
