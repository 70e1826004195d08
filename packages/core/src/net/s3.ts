import { hash } from 'node:crypto'
import { AwsV4Signer } from 'aws4fetch'
import type { Outbound } from './outbound.ts'
import type { OutboundResponse } from './exchange.ts'

/** A bucket of S3 or of a compatible store, addressed by path. */
export interface Bucket {
  /** Origin of the store, such as `https://s3.eu-central-1.amazonaws.com`. */
  readonly endpoint: string
  readonly bucket: string
  readonly region: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** Object lock: nobody, including the owner in the mode COMPLIANCE, can remove the object before. */
export interface ObjectLock {
  readonly mode: 'GOVERNANCE' | 'COMPLIANCE'
  readonly until: Date
}

export interface NewObject {
  readonly key: string
  readonly body: Uint8Array
  readonly contentType: string
  readonly lock?: ObjectLock
}

/** Stores an object; the response has any status. Rejects with `OutboundError`. */
export function putObject(
  outbound: Outbound,
  bucket: Bucket,
  { key, body, contentType, lock }: NewObject,
): Promise<OutboundResponse> {
  const headers = {
    'content-type': contentType,
    // A store refuses a lock without a checksum of the content.
    'content-md5': hash('md5', body, 'base64'),
    ...(lock && {
      'x-amz-object-lock-mode': lock.mode,
      'x-amz-object-lock-retain-until-date': lock.until.toISOString(),
    }),
  }
  return send(outbound, bucket, { method: 'PUT', url: urlOf(bucket, key), headers, body })
}

/** Reads an object; the response has any status. Rejects with `OutboundError`. */
export const getObject = (
  outbound: Outbound,
  bucket: Bucket,
  key: string,
): Promise<OutboundResponse> =>
  send(outbound, bucket, { method: 'GET', url: urlOf(bucket, key), headers: {} })

/** The first thousand keys with a prefix and after a key, in order. */
export function listObjects(
  outbound: Outbound,
  bucket: Bucket,
  prefix: string,
  after = '',
): Promise<OutboundResponse> {
  const query = new URLSearchParams({ 'list-type': '2', prefix })
  if (after !== '') query.set('start-after', after)
  const url = `${urlOf(bucket, '').slice(0, -1)}?${query.toString()}`
  return send(outbound, bucket, { method: 'GET', url, headers: {} })
}

const urlOf = ({ endpoint, bucket }: Bucket, key: string): string =>
  [endpoint.replace(/\/$/, ''), ...`${bucket}/${key}`.split('/').map(encodeURIComponent)].join('/')

interface Unsigned {
  readonly method: 'GET' | 'PUT'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

async function send(
  outbound: Outbound,
  { region, accessKeyId, secretAccessKey, sessionToken }: Bucket,
  { method, url, headers, body }: Unsigned,
): Promise<OutboundResponse> {
  const digest = hash('sha256', body ?? '', 'hex')
  const signed = await new AwsV4Signer({
    method,
    url,
    headers: { ...headers, 'x-amz-content-sha256': digest },
    service: 's3',
    region,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
  }).sign()
  return outbound.fetch(signed.url.href, {
    method,
    headers: Object.fromEntries(signed.headers),
    ...(body && { body }),
  })
}
