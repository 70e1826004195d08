import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import {
  component,
  integer,
  issuesOf,
  mapOf,
  page,
  Paging,
  PathId,
  strictComponent,
  Timestamp,
} from './primitives.ts'

const SINK_TYPES = ['otlp', 'https', 'splunk_hec', 'syslog', 's3'] as const
export const SinkType = z.enum(SINK_TYPES).describe('Protocol of the receiver')
export type SinkType = z.infer<typeof SinkType>

export const SinkFormat = z.enum(['remit', 'ocsf', 'ecs']).describe('Form of the records')
export type SinkFormat = z.infer<typeof SinkFormat>

const Url = z.string().max(2048)
const Token = z
  .string()
  .min(1)
  .max(1024)
  .regex(/^[!-~]+$/, 'must be printable ASCII without blanks')
const Ca = z
  .string()
  .max(65_536)
  .regex(/^\s*-----BEGIN CERTIFICATE-----/, 'must be certificates in PEM form')
  .optional()
  .describe('PEM of the authorities that replace the public ones')

/** Set by the sink itself, or by HTTP. */
const RESERVED =
  /^(?:host|content-.*|transfer-encoding|connection|accept-encoding|user-agent|expect|upgrade|te|trailer|keep-alive|proxy-.*)$/i
const Headers = mapOf(
  z
    .string()
    .max(64)
    .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be the name of an HTTP header')
    .refine((name) => !RESERVED.test(name), 'must not be a header that Remit sets'),
  z
    .string()
    .max(4096)
    .regex(/^[ -~]*$/, 'must be printable ASCII'),
)
  .refine((headers) => Object.keys(headers).length <= 20, 'must be at most 20 headers')
  .optional()
  .describe('Headers of every request, for example `authorization`; never shown again')

const httpTarget = z.strictObject({ url: Url, headers: Headers, ca: Ca })
const NAME = 'must be 3 to 63 of a-z 0-9 . -'

/** The accepted `target` of each type of sink. */
export const SINK_TARGETS = {
  otlp: httpTarget,
  https: httpTarget,
  splunk_hec: z.strictObject({
    url: Url,
    token: Token.describe('Token of the HTTP Event Collector; never shown again'),
    index: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]{0,79}$/, 'must be 1 to 80 of a-z 0-9 _ -')
      .optional()
      .describe('Index of Splunk; default: that of the token'),
    ca: Ca,
  }),
  syslog: z.strictObject({ url: Url.describe('`syslog+tls://host:port`'), ca: Ca }),
  s3: z.strictObject({
    endpoint: Url.describe('Origin of the object store'),
    bucket: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, NAME),
    prefix: z
      .string()
      .regex(/^[A-Za-z0-9._/-]{0,256}$/, 'must be at most 256 of A-Z a-z 0-9 . _ / -')
      .optional()
      .describe('Beginning of the keys of all objects'),
    region: z.string().regex(/^[a-z0-9-]{1,64}$/, 'must be 1 to 64 of a-z 0-9 -'),
    access_key_id: Token,
    secret_access_key: Token.describe('Never shown again'),
    ca: Ca,
  }),
} as const satisfies Record<SinkType, z.ZodType>

const Kinds = z
  .array(z.string().regex(/^[a-z0-9_.*]{1,64}$/, 'must be 1 to 64 of a-z 0-9 _ . *'))
  .min(1)
  .max(50)
const Description = z.string().max(1000).nullable()
const FromSeq = integer(0, Number.MAX_SAFE_INTEGER)

const TargetInput = mapOf(z.string(), z.unknown()).describe(
  'The receiver. otlp, https: `url`, `headers?`, `ca?`; splunk_hec: `url`, `token`, `index?`, `ca?`; syslog: `url` as `syslog+tls://host:port`, `ca?`; s3: `endpoint`, `bucket`, `prefix?`, `region`, `access_key_id`, `secret_access_key`, `ca?`. Headers, token and secret key are never shown again',
)

export const SinkInput = z
  .strictObject({
    type: SinkType.describe('Protocol of the receiver'),
    target: TargetInput,
    format: SinkFormat.default('remit').describe('Form of the records'),
    kinds: Kinds.nullable().default(null),
    description: Description.default(null),
    enabled: z.boolean().default(true).describe('False: nothing is sent'),
    from_seq: FromSeq.optional().describe('The first entry to send; default: the next one'),
  })
  .check(({ value: { type, target }, issues }) => {
    issues.push(...issuesOf(SINK_TARGETS[type], target, ['target']))
  })
  .meta({ id: 'SinkInput' })
export type SinkInput = z.infer<typeof SinkInput>

export const SinkChange = strictComponent('SinkChange', {
  target: TargetInput.optional().describe('Replaces the whole target, with its secrets'),
  format: SinkFormat.optional().describe('Form of the records'),
  kinds: Kinds.nullable().optional(),
  description: Description.optional(),
  enabled: z.boolean().optional().describe('False: nothing is sent'),
  from_seq: FromSeq.optional().describe('Continues at this entry'),
})
export type SinkChange = z.infer<typeof SinkChange>

/** A target without its secrets. */
export const SinkTarget = component('SinkTarget', {
  url: z.string().optional(),
  header_names: z.array(z.string()).optional(),
  index: z.string().optional().describe('Index of Splunk'),
  endpoint: z.string().optional(),
  bucket: z.string().optional(),
  prefix: z.string().optional().describe('Beginning of the keys of all objects'),
  region: z.string().optional(),
  access_key_id: z.string().optional(),
  ca: z.string().optional(),
})
export type SinkTarget = z.infer<typeof SinkTarget>

const SinkError = component('SinkError', {
  code: z.string().describe('A stable code; contains no data of the receiver'),
  status: z.int().nullable().describe('HTTP status of the receiver; null without a response'),
  at: Timestamp,
})

const sink = {
  id: z.string(),
  type: SinkType.describe('Protocol of the receiver'),
  target: SinkTarget,
  format: SinkFormat.describe('Form of the records'),
  kinds: z.array(z.string()).nullable(),
  description: z.string().nullable(),
  enabled: z.boolean().describe('False: nothing is sent'),
  created_at: Timestamp,
  created_by: z.string(),
  updated_at: Timestamp,
}

export const RecordedSink = z.object(sink)
export type RecordedSink = z.infer<typeof RecordedSink>

export const Sink = component('Sink', {
  ...sink,
  state: z
    .enum(['streaming', 'retrying', 'paused'])
    .describe('`retrying`: the last attempt failed; `paused`: not enabled'),
  watermark_seq: z.int().nullable(),
  lag_entries: z.int(),
  last_sent_at: Timestamp.nullable(),
  last_error: SinkError.nullable(),
  ledger: Receipt.optional(),
})
export type Sink = z.infer<typeof Sink>

const Id = z.strictObject({ id: PathId })

export const sinks = {
  listSinks: endpoint('GET /v1/sinks', {
    plan: 'enterprise',
    summary: 'List sinks',
    text: 'Lists the sinks of the organization with their progress. Secrets of targets are never shown.',
    query: z.strictObject(Paging),
    ok: page(Sink),
  }),
  createSink: endpoint('POST /v1/sinks', {
    plan: 'enterprise',
    viaWriter: true,
    summary: 'Create a sink, which streams the ledger to another system',
    text: 'Creates a sink. It receives every entry of `kinds` from `from_seq` on, in order and at least once; a sink that cannot send stops and never skips. The receiver must be https or TLS on the public internet, unless the operator allows private networks.',
    problems: ['too_many_sinks'],
    body: SinkInput,
    ok: Sink,
    status: 201,
    sends: ['Location'],
  }),
  getSink: endpoint('GET /v1/sinks/{id}', {
    plan: 'enterprise',
    summary: 'Get a sink and its progress',
    text: 'Returns one sink with its watermark, the number of entries that it has yet to examine, and its last error.',
    problems: ['sink_not_found'],
    params: Id,
    ok: Sink,
  }),
  changeSink: endpoint('PATCH /v1/sinks/{id}', {
    plan: 'enterprise',
    viaWriter: true,
    summary: 'Update, pause or rewind a sink',
    text: 'Changes a sink. `target` replaces the whole target. `from_seq` sends again, or skips on purpose; the entry `sink.updated` records it. Any change retries at once.',
    problems: ['sink_not_found'],
    params: Id,
    body: SinkChange,
    ok: Sink,
  }),
  deleteSink: endpoint('DELETE /v1/sinks/{id}', {
    plan: 'enterprise',
    viaWriter: true,
    summary: 'Delete a sink',
    text: 'Deletes a sink. What it has not sent is not sent.',
    problems: ['sink_not_found'],
    params: Id,
  }),
  testSink: endpoint('POST /v1/sinks/{id}/test', {
    plan: 'enterprise',
    summary: 'Send a test record to a sink, now',
    text: 'Sends one record of the kind `test` in the format of the sink and waits for the result. The record is not an entry of the ledger.',
    problems: ['sink_not_found'],
    params: Id,
    ok: z.object({
      delivered: z.boolean().describe('True if the receiver accepted the record'),
      error: SinkError.nullable(),
    }),
  }),
}
