import { endpoints, openApi } from '@remit/contract'
import type { Endpoint } from '@remit/contract'
import fc from 'fast-check'
import { deep, hostile, mutated, SchemaValues } from './fuzz-values.ts'

/** A request as `app.request` takes it. */
export interface WildRequest {
  /** The endpoint it is meant for, or null for a path that is none. */
  readonly name: string | null
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Text, or bytes as numbers so that a failure can be printed. */
  readonly body: string | readonly number[] | null
}

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly schema: Record<string, unknown>
  }[]
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: Record<string, unknown> } }
  }
}

const document = openApi(endpoints, '1') as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Record<string, unknown> }
}
const values = new SchemaValues(document.components.schemas)
const operations = new Map(
  Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map((one) => [one.operationId, one] as const),
  ),
)

const segment = fc.oneof(
  fc.constantFrom(
    '1',
    '0',
    '-1',
    '9007199254740993',
    'payer',
    '%',
    '%00',
    '%ff',
    '%2e%2e',
    '..',
    '%2F',
    '*',
    '__proto__',
    'a'.repeat(5_000),
  ),
  fc.webSegment(),
  fc
    .string({ unit: 'grapheme', maxLength: 20 })
    .map((text) => encodeURIComponent(text.toWellFormed())),
)

// Characters of a header on the wire: no line breaks, nothing above one byte.
const headerText = fc.string({
  unit: fc
    .integer({ min: 32, max: 255 })
    .filter((n) => n !== 127)
    .map((n) => String.fromCharCode(n)),
  maxLength: 60,
})

const headerNames = [
  'idempotency-key',
  'x-request-id',
  'prefer',
  'accept',
  'content-type',
  'content-length',
  'content-encoding',
  'host',
  'cookie',
  'origin',
  'expect',
  'x-forwarded-for',
  'authorization',
  'x-any',
]
const headers = fc.dictionary(
  fc.constantFrom(...headerNames),
  fc.oneof(
    headerText,
    fc.constantFrom(
      '',
      '-1',
      '0',
      '1e9',
      'gzip',
      'application/json',
      'text/plain',
      'receipt',
      '*/*',
      '100-continue',
      'x'.repeat(15_000),
    ),
  ),
  { maxKeys: 3 },
)

const query = (operation: Operation) => {
  const known = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query')
  const value = fc.oneof(
    fc.constantFrom(
      '',
      '0',
      '-1',
      '1e3',
      'null',
      '*',
      '\u0000',
      'é',
      '2026-11-20T08:00:00Z',
      '9'.repeat(30),
    ),
    fc.string({ unit: 'grapheme', maxLength: 20 }),
  )
  const pair = fc.tuple(
    fc.oneof(fc.constantFrom('x', ...known.map(({ name }) => name)), fc.string({ maxLength: 8 })),
    value,
  )
  return fc
    .array(pair, { maxLength: 3 })
    .map((pairs) =>
      new URLSearchParams(
        pairs.map(([n, v]): [string, string] => [n.toWellFormed(), v.toWellFormed()]),
      ).toString(),
    )
}

/** Text that is almost JSON: a valid text with a piece cut, doubled or broken. */
const brokenJson = (valid: fc.Arbitrary<unknown>) =>
  fc
    .tuple(valid, fc.nat(), fc.constantFrom('cut', 'double', 'swap', 'number', 'escape', 'bytes'))
    .map(([value, at, how]): WildRequest['body'] => {
      const json = JSON.stringify(value)
      const where = at % Math.max(1, json.length)
      if (how === 'cut') return json.slice(0, where)
      if (how === 'double') return json.replace(/"(\w+)":/, '"$1":1,"$1":')
      if (how === 'swap') return json.slice(0, where) + '}{][",:'[at % 7] + json.slice(where + 1)
      if (how === 'number') return json.replace(/[{,]"(\w+)":/, '{"$1":1e999,"x":')
      if (how === 'escape') return json.replace('"', '"\\ud800')
      return [...Buffer.from(json)].map((byte, i) => (i === where ? at % 256 : byte))
    })

const bodyOf = (operation: Operation): fc.Arbitrary<WildRequest['body']> => {
  const schema = operation.requestBody?.content['application/json'].schema
  if (!schema) return fc.constant(null)
  const valid = values.of(schema)
  return fc.oneof(
    { weight: 8, arbitrary: mutated(valid).map((value) => JSON.stringify(value)) },
    { weight: 3, arbitrary: brokenJson(valid) },
    { weight: 1, arbitrary: fc.oneof(hostile, deep).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => [...bytes]) },
    { weight: 1, arbitrary: valid.map((value) => JSON.stringify(value)) },
  )
}

const toEndpoint = (
  [name, { method, path }]: readonly [string, Endpoint],
  key: string,
): fc.Arbitrary<WildRequest> => {
  const operation = operations.get(name) ?? { operationId: name }
  return fc
    .record({
      method: fc.oneof(
        { weight: 20, arbitrary: fc.constant<string>(method) },
        fc.constantFrom(
          'GET',
          'POST',
          'PUT',
          'PATCH',
          'DELETE',
          'HEAD',
          'OPTIONS',
          'PROPFIND',
          'x',
        ),
      ),
      segments: fc.array(segment, { minLength: 2, maxLength: 2 }),
      search: fc.oneof({ weight: 3, arbitrary: fc.constant('') }, query(operation)),
      extra: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, headers),
      body: bodyOf(operation),
    })
    .map((parts) => {
      const filled = path.replace(/\{\w+\}/g, () => parts.segments.pop() ?? '1')
      const body = ['GET', 'HEAD'].includes(parts.method) ? null : parts.body
      return {
        name,
        method: parts.method,
        path: parts.search ? `${filled}?${parts.search}` : filled,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== null && { 'content-type': 'application/json' }),
          ...parts.extra,
        },
        body,
      }
    })
}

const toNowhere = (key: string): fc.Arbitrary<WildRequest> =>
  fc.record({
    name: fc.constant(null),
    method: fc.constantFrom('GET', 'POST', 'DELETE', 'PUT'),
    path: fc
      .array(segment, { minLength: 1, maxLength: 4 })
      .map((parts) => `/v1/${parts.join('/')}`),
    headers: headers.map((extra) => ({ authorization: `Bearer ${key}`, ...extra })),
    body: fc.constant(null),
  })

/** Requests of every kind to every endpoint of the contract; almost all of them wrong. */
export const wildRequests = (key: string): fc.Arbitrary<WildRequest> =>
  fc.oneof(
    ...Object.entries(endpoints).map((one) => ({
      weight: one[1].body ? 4 : 1,
      arbitrary: toEndpoint(one, key),
    })),
    { weight: 1, arbitrary: toNowhere(key) },
  )
