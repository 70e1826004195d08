/** What the OpenAPI document says of a header. */
interface HeaderText {
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
}

const TEXT = { type: 'string' } as const
const SECONDS = { type: 'integer', minimum: 0 } as const

/** Headers of requests; `Authorization` is the security scheme. */
export const REQUEST_HEADERS = {
  'Idempotency-Key': {
    description: 'For 24 hours the same key and bytes give the same answer, and nothing twice',
    schema: { ...TEXT, minLength: 1, maxLength: 255 },
  },
  'If-Match': {
    description: 'The `ETag` of what is to be changed; `*` and nothing are any',
    schema: TEXT,
  },
  'Last-Event-ID': {
    description: 'Goes on after that event',
    schema: TEXT,
  },
  Prefer: {
    description: '`receipt` has the signed note of the commit in `ledger.checkpoint`',
    schema: TEXT,
  },
} as const satisfies Record<string, HeaderText>
export type RequestHeader = keyof typeof REQUEST_HEADERS

/** Headers of answers. */
export const ANSWER_HEADERS = {
  'Content-Digest': {
    description: 'SHA-256 of the body (RFC 9530)',
    schema: TEXT,
  },
  ETag: {
    description: 'Which version this is',
    schema: TEXT,
  },
  'Idempotency-First-Request-Id': {
    description:
      'With `Idempotency-Replayed`: the `X-Request-Id` of the request that was carried out',
    schema: TEXT,
  },
  'Idempotency-Replayed': {
    description: '`true` where an earlier request with the same `Idempotency-Key` was carried out',
    schema: { ...TEXT, enum: ['true'] },
  },
  Location: {
    description: 'Path of what came to be',
    schema: TEXT,
  },
  RateLimit: {
    description: 'Requests that the key has left, and the seconds until it has all again',
    schema: TEXT,
  },
  'RateLimit-Policy': {
    description: 'Requests that a key has, and the seconds that they are for',
    schema: TEXT,
  },
  'Retry-After': {
    description: 'Seconds after which to ask again, with 202, 429 and 503',
    schema: SECONDS,
  },
  'WWW-Authenticate': {
    description: 'What a credential lacks, with 401 and where a scope is missing',
    schema: TEXT,
  },
  'X-Request-Id': {
    description: 'Which request this was; that of the request where it sends one',
    schema: TEXT,
  },
} as const satisfies Record<string, HeaderText>
export type AnswerHeader = keyof typeof ANSWER_HEADERS
