import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { TLSSocket } from 'node:tls'
import type { SinkType, Entry, SinkFormat } from '@remit/contract'
import { putObject } from '@remit/core/net'
import type { Outbound, OutboundResponse } from '@remit/core/net'
import { urlOfTarget } from '../store.ts'
import type { WholeTarget } from '../store.ts'

/** Posts a batch as OTLP logs over HTTP, in JSON. */
const sendOtlp: Send = async (outbound, { url, headers }, batch) => {
  const body = JSON.stringify(logsOf(batch))
  const answer = await post(outbound, url, body, { ...headers, 'content-type': 'application/json' })
  // A success can still name records that the receiver dropped.
  if (rejected(answer) > 0) throw new SinkFailure('partially_rejected', answer.status)
}

/** The body of an export request of OTLP 1.x. */
const logsOf = ({ orgId, origin, records }: Batch) => ({
  resourceLogs: [
    {
      resource: {
        attributes: attributesOf({
          'service.name': 'remit',
          'remit.org_id': orgId,
          'remit.origin': origin,
        }),
      },
      scopeLogs: [{ scope: { name: 'remit.ledger' }, logRecords: records.map(recordOf) }],
    },
  ],
})

function recordOf({ entry, document }: SinkRecord) {
  const nanos = String(BigInt(Date.parse(entry.recorded_at)) * 1_000_000n)
  const { trace_id: traceId, span_id: spanId } = entry.data ?? {}
  const severity = isRefusal(entry) ? WARN : INFO
  return {
    timeUnixNano: nanos,
    observedTimeUnixNano: nanos,
    ...severity,
    eventName: `remit.${entry.kind}`,
    body: valueOf(document),
    attributes: attributesOf({
      'remit.seq': entry.seq,
      'remit.kind': entry.kind,
      'remit.hash': entry.hash,
      ...(entry.agent_id !== null && { 'gen_ai.agent.id': entry.agent_id }),
    }),
    ...(isHex(traceId, 32) && { traceId }),
    ...(isHex(spanId, 16) && { spanId }),
  }
}

const INFO = { severityNumber: 9, severityText: 'INFO' }
const WARN = { severityNumber: 13, severityText: 'WARN' }

const isHex = (text: unknown, length: number): boolean =>
  typeof text === 'string' && text.length === length && /^[0-9a-f]+$/.test(text)

const attributesOf = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).map(([key, value]) => ({ key, value: valueOf(value) }))

/** A JSON value as an `AnyValue`; 64-bit integers are text. */
function valueOf(value: unknown): object {
  if (value === null || value === undefined) return {}
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  if (typeof value === 'string') return { stringValue: value }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(valueOf) } }
  return { kvlistValue: { values: attributesOf(value as Record<string, unknown>) } }
}

function rejected({ body }: OutboundResponse): number {
  try {
    const { partialSuccess } = JSON.parse(Buffer.from(body).toString('utf8')) as {
      partialSuccess?: { rejectedLogRecords?: string | number }
    }
    return Number(partialSuccess?.rejectedLogRecords ?? 0)
  } catch {
    return 0
  }
}

/**
 * Sends a batch as syslog messages (RFC 5424) over TLS with octet counting (RFC 5425). The protocol
 * has no acknowledgements, so each batch has a connection: the receiver closes it after it has read
 * everything, and only then the batch counts as sent.
 */
const sendSyslog: Send = (outbound, target, { records }) =>
  outbound.connect(urlOfTarget('syslog', target), (socket) =>
    untilClosed(socket, Buffer.concat(records.map(frameOf))),
  )

async function untilClosed(socket: TLSSocket, bytes: Buffer): Promise<void> {
  const ended = new Promise<void>((resolve, reject) => {
    socket.once('end', resolve)
    socket.once('error', () => reject(new SinkFailure('not_acknowledged', null)))
    socket.once('close', () => reject(new SinkFailure('not_acknowledged', null)))
  })
  // Without a reader, the end of the other side is never seen.
  socket.resume()
  socket.end(bytes)
  await ended
  if (socket.writableLength > 0) throw new SinkFailure('not_acknowledged', null)
}

function frameOf({ entry, document }: SinkRecord): Buffer {
  const message = Buffer.from(messageOf(entry, JSON.stringify(document)))
  return Buffer.concat([Buffer.from(`${message.length} `), message])
}

/** The facility "log audit". */
const AUDIT = 13 * 8
const WARNING = 4
const INFORMATIONAL = 6
/** Longest MSGID. */
const MAX_ID = 32

/** Formats a message: header, no structured data, the document. */
const messageOf = (entry: Entry, text: string): string => {
  const priority = AUDIT + (isRefusal(entry) ? WARNING : INFORMATIONAL)
  return `<${priority}>1 ${entry.recorded_at} - remit - ${entry.kind.slice(0, MAX_ID)} - ${text}`
}

const compress = promisify(gzip)

/**
 * Stores a batch as an object of compressed NDJSON, and beside it the signed checkpoint that covers
 * it. The name has the first and the last entry, so a repeated batch replaces itself.
 */
const sendS3: Send = async (outbound, target, batch) => {
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

/** Posts a batch to the HTTP Event Collector of Splunk, as events one after the other. */
const sendSplunk: Send = async (outbound, { url, token = '', index }, batch) => {
  const events = batch.records.map(({ entry, document }) => ({
    time: Date.parse(entry.recorded_at) / 1000,
    source: batch.origin,
    sourcetype: `remit:${batch.format === 'remit' ? 'ledger' : batch.format}`,
    ...(index !== undefined && { index }),
    event: document,
  }))
  const headers = { authorization: `Splunk ${token}`, 'content-type': 'application/json' }
  await post(outbound, url, events.map((event) => JSON.stringify(event)).join('\n'), headers)
}

/** Posts a batch as newline-delimited JSON. */
const sendHttps: Send = async (outbound, { url, headers }, batch) => {
  await post(outbound, url, ndjson(batch), { ...headers, 'content-type': 'application/x-ndjson' })
}

const SENDERS: Readonly<Record<SinkType, Send>> = {
  otlp: sendOtlp,
  https: sendHttps,
  splunk_hec: sendSplunk,
  syslog: sendSyslog,
  s3: sendS3,
}

/** Sends a batch to the receiver of a sink. Rejects with `SinkFailure` or `OutboundError`. */
export function sendBatch(
  outbound: Outbound,
  type: SinkType,
  target: WholeTarget,
  batch: Batch,
): Promise<void> {
  if (batch.records.length === 0) return Promise.resolve()
  const { ca } = target
  return SENDERS[type](ca === undefined ? outbound : outbound.with({ ca }), target, batch)
}

/** A JSON document about one entry. */
export type Document = Readonly<Record<string, unknown>>

interface SinkRecord {
  readonly entry: Entry
  readonly document: Document
}

/** Consecutive entries of one ledger for a receiver. */
export interface Batch {
  readonly orgId: string
  readonly origin: string
  /** A signed checkpoint of at least these entries. */
  readonly note: string
  readonly format: SinkFormat
  /** The first and the last entry, including those that are left out. */
  readonly from: number
  readonly to: number
  /** Time of the first entry. */
  readonly at: string
  /** In order; empty if all entries are left out. */
  readonly records: readonly SinkRecord[]
}

/**
 * Sends a batch and resolves when the receiver has accepted all of it. Rejects with `SinkFailure` or
 * `OutboundError`.
 */
type Send = (outbound: Outbound, target: WholeTarget, batch: Batch) => Promise<void>

/** The receiver did not accept a batch. `code` is stable; nothing that it sent is in it. */
export class SinkFailure extends Error {
  readonly code: string
  readonly status: number | null

  constructor(code: string, status: number | null) {
    super(`the receiver did not accept the batch: ${code}`)
    this.name = 'SinkFailure'
    this.code = code
    this.status = status
  }
}

/** Posts a text; throws unless the status is a success. */
async function post(
  outbound: Outbound,
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<OutboundResponse> {
  const answer = await outbound.fetch(url, { method: 'POST', headers, body })
  requireSuccess(answer)
  return answer
}

/** Throws unless the status is a success. */
function requireSuccess({ status }: OutboundResponse): void {
  if (status < 200 || status >= 300) throw new SinkFailure('http_status', status)
}

/** A line of JSON per record. */
const ndjson = ({ records }: Batch): string =>
  records.map(({ document }) => `${JSON.stringify(document)}\n`).join('')

/** An entry that is not an allow. */
export const isRefusal = ({ kind, decision }: Entry): boolean =>
  decision === 'deny' || kind === 'enforcement.gap' || kind.endsWith('.refused')
