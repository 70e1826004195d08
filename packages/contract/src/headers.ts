/** The description of a header in the OpenAPI document. */
interface HeaderText {
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
}

const TEXT = { type: 'string' } as const
const SECONDS = { type: 'integer', minimum: 0 } as const

/** Request headers; `Authorization` is the security scheme. */
export const REQUEST_HEADERS = {
  'Idempotency-Key': {
    description: 'For 24 hours, a repeat with the same key and body returns the stored response',
    schema: { ...TEXT, minLength: 1, maxLength: 255 },
  },
  'If-Match': {
    description: 'The `ETag` of the object to change',
    schema: TEXT,
  },
  'If-None-Match': {
    description: '`*`: the request only creates; 412 if the object exists',
    schema: TEXT,
  },
  'Last-Event-ID': {
    description: 'Resumes after this event',
    schema: TEXT,
  },
  Prefer: {
    description: '`receipt` has the signed note of the commit in `ledger.checkpoint`',
    schema: TEXT,
  },
  'Remit-Mode': {
    description:
      'The mode of the guardrail, instead of `additional_provider_specific_params`, which are ignored then',
    schema: { ...TEXT, enum: ['pre_call', 'pre_mcp_call'] },
  },
  'Remit-Redact': {
    description:
      'What becomes of a response with secrets or personal data: `block`, the default, or `replace`',
    schema: { ...TEXT, enum: ['block', 'replace'] },
  },
} as const satisfies Record<string, HeaderText>
export type RequestHeader = keyof typeof REQUEST_HEADERS

export const ANSWER_HEADERS = {
  'Content-Digest': {
    description: 'SHA-256 of the body (RFC 9530)',
    schema: TEXT,
  },
  ETag: {
    description: 'Version of the object',
    schema: TEXT,
  },
  'Idempotency-First-Request-Id': {
    description: 'With `Idempotency-Replayed`: the `X-Request-Id` of the original request',
    schema: TEXT,
  },
  'Idempotency-Replayed': {
    description: '`true` if the response is of an earlier request with the same `Idempotency-Key`',
    schema: { ...TEXT, enum: ['true'] },
  },
  Location: {
    description: 'Path of the created object',
    schema: TEXT,
  },
  RateLimit: {
    description: 'Remaining requests of the key, and seconds until the limit resets',
    schema: TEXT,
  },
  'RateLimit-Policy': {
    description: 'Request limit of a key, and the seconds of its window',
    schema: TEXT,
  },
  'Retry-After': {
    description: 'Seconds to wait before a retry, with 202, 429 and 503',
    schema: SECONDS,
  },
  'Set-Cookie': {
    description: 'The session cookie, or its removal',
    schema: TEXT,
  },
  'WWW-Authenticate': {
    description: 'Authentication challenge, with 401 and with missing scopes',
    schema: TEXT,
  },
  'X-Request-Id': {
    description: 'Id of the request; a sent id is returned',
    schema: TEXT,
  },
} as const satisfies Record<string, HeaderText>
export type AnswerHeader = keyof typeof ANSWER_HEADERS
