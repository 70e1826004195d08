import { z } from 'zod'
import { EXAMPLES } from './examples.ts'
import { fieldText } from './fields.ts'
import type { Endpoint } from '../endpoint.ts'
import { ANSWER_HEADERS, REQUEST_HEADERS } from '../headers.ts'
import type { AnswerHeader, RequestHeader } from '../headers.ts'
import { PROBLEMS } from '../problem.ts'
import type { ProblemCode } from '../problem.ts'

/** The alternatives for sending a key. */
const KEYS: readonly Json[] = [{ key: [] }, { apiKey: [] }]

/**
 * Returns the OpenAPI 3.1 document of some endpoints, as a plain object. Schemas with a zod `id`
 * become components. Deterministic.
 */
export function openApi(endpoints: Readonly<Record<string, Endpoint>>, version: string): Json {
  const components: Components = new Map()
  const paths: Record<string, Json> = {}
  for (const [name, endpoint] of Object.entries(endpoints)) {
    paths[endpoint.path] = {
      ...paths[endpoint.path],
      [endpoint.method.toLowerCase()]: operation(name, endpoint, components),
    }
  }
  const tags = new Set(Object.values(endpoints).map(tagOf))
  const responses = usedIn(paths, 'responses', problemComponents())
  return {
    openapi: '3.1.0',
    info: {
      title: 'Remit',
      version,
      description:
        'Authorization API and tamper-evident audit ledger for AI agents. Every request carries `Authorization: Bearer <key>`.',
      contact: { name: 'The maintainers of Remit' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The server of this document' }],
    tags: Object.entries(TAGS)
      .filter(([name]) => tags.has(name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description: 'Ingest key `rmk_…`, or credential of an agent `rmc_…`, `rmf_…`',
        },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-API-Key',
          description: 'The same key, where `Authorization` is absent',
        },
        ...(Object.values(endpoints).some(({ form }) => form) && {
          client: {
            type: 'http',
            scheme: 'basic',
            description: 'OAuth clients: the id of an ingest key, and the key',
          },
        }),
      },
      schemas: {
        ...Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
        Problem: describe(PROBLEM_SCHEMA, 'Problem'),
      },
      responses,
      headers: usedIn({ paths, responses }, 'headers', ANSWER_HEADERS),
    },
    security: KEYS,
  }
}

/** Returns the components of a kind that a part of the document refers to. */
function usedIn(part: Json, kind: 'responses' | 'headers', components: Json): Json {
  const text = JSON.stringify(part)
  return Object.fromEntries(
    Object.entries(components).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)),
  )
}

function operation(name: string, endpoint: Endpoint, components: Components): Json {
  const parameters = [
    ...fieldParameters(name, endpoint.params, 'path', components),
    ...fieldParameters(name, endpoint.query, 'query', components),
    ...headerParameters(endpoint),
  ]
  const answer = (status: number) => success(name, endpoint, status, components)
  return {
    operationId: name,
    summary: endpoint.summary,
    ...(endpoint.text !== undefined && { description: endpoint.text }),
    tags: [tagOf(endpoint)],
    ...(endpoint.public && { security: [] }),
    ...((endpoint.form ?? endpoint.keyless) && {
      security: [
        ...KEYS,
        ...(endpoint.form ? [{ client: [] }] : []),
        ...(endpoint.keyless ? [{}] : []),
      ],
    }),
    'x-plan': endpoint.plan,
    'x-roles': endpoint.public ? [] : ['admin', ...endpoint.roles],
    'x-scope': endpoint.scope,
    ...(parameters.length > 0 && { parameters }),
    ...(endpoint.body && {
      requestBody: {
        required: true,
        content: bodyContent(name, endpoint, endpoint.body, components),
      },
    }),
    responses: {
      [endpoint.status]: answer(endpoint.status),
      ...(endpoint.alsoStatus && { [endpoint.alsoStatus]: answer(endpoint.alsoStatus) }),
      ...problemResponses(endpoint),
    },
  }
}

function fieldParameters(
  name: string,
  schema: z.ZodType | undefined,
  where: 'path' | 'query',
  components: Components,
): Json[] {
  const { properties = {}, required = [] } = (
    schema ? jsonSchema(schema, 'input', components, name) : {}
  ) as { properties?: Record<string, Json>; required?: string[] }
  return Object.entries(properties).map(([field, { description, ...shape }]) => ({
    name: field,
    in: where,
    required: where === 'path' || required.includes(field),
    description: description ?? fieldText(name, field),
    schema: shape,
    ...exampleOf(EXAMPLES[name]?.params?.[field]),
  }))
}

const exampleOf = (example: unknown): Json => (example === undefined ? {} : { example })

function bodyContent(
  name: string,
  endpoint: Endpoint,
  body: z.ZodType,
  components: Components,
): Json {
  const schema = jsonSchema(body, 'input', components, name)
  const content = { schema, ...exampleOf(EXAMPLES[name]?.body) }
  const form = endpoint.form && { 'application/x-www-form-urlencoded': content }
  return { 'application/json': content, ...form }
}

/**
 * Returns the part of the API that an endpoint belongs to; paths outside /v1 belong to external
 * standards.
 */
const tagOf = ({ path }: Endpoint): string =>
  /^\/v1\/([^/]+)/.exec(path)?.[1] ?? (path.includes('/oauth-') ? 'identity' : 'authzen')

function success(name: string, endpoint: Endpoint, status: number, components: Components): Json {
  const headers = successHeaders(endpoint, status)
  if (status === 204) return { description: 'Done', headers }
  const type = endpoint.produces ?? 'application/json'
  const others = endpoint.alsoProduces?.map((other) => [other, { schema: { type: 'string' } }])
  const schemaOf = (shape: z.ZodType) => jsonSchema(shape, 'output', components, name)
  const ok = schemaOf(endpoint.ok)
  // Nothing is created where another shape is the answer.
  const also = status === 200 ? Object.values(endpoint.also ?? {}).map(schemaOf) : []
  const shapes = endpoint.produces
    ? { [type]: [ok], 'application/json': also }
    : { [type]: [ok, ...also] }
  const content = Object.entries(shapes).flatMap(([media, [first, ...more]]) =>
    first ? [[media, { schema: more.length > 0 ? { anyOf: [first, ...more] } : first }]] : [],
  )
  return {
    description: 'The answer',
    headers,
    content: { ...Object.fromEntries(content), ...Object.fromEntries(others ?? []) },
  }
}

/** Parts of the API, in the order of the documentation. */
export const TAGS: Readonly<Record<string, string>> = {
  authorize: 'Decisions: may this agent do this?',
  mcp: 'Tools of MCP servers behind the gateway.',
  hooks: 'Endpoints that agent hosts call as they are.',
  inventory: 'Agent hosts and what governs them.',
  authzen: 'The same decisions for clients of the AuthZEN Authorization API 1.0.',
  policies: 'Rules that allow or deny actions.',
  'policy-sets': 'Rules that are planned, tested and applied as a whole.',
  stats: 'Counts of decisions for charts.',
  usage: 'Counts for invoices.',
  'spend-holds': 'Amounts of allowed decisions that are not settled.',
  budgets: 'Trees of limits on what agents use together.',
  'spend-limits': 'Caps on the spend of agents.',
  delegation: 'Permissions of agents, which they may pass on in part.',
  'approval-rules': 'Rules that require a human decision.',
  approvals: 'Requests for a human decision.',
  ledger: 'The tamper-evident record and its proofs.',
  identity: 'Agents, their credentials, trust between them, and token exchange.',
  session: 'Sessions of the console.',
  organization: 'Settings of the organization.',
  people: 'People who sign in to the console.',
  'login-provider': 'The OpenID provider of the organization.',
  keys: 'Ingest keys.',
  webhooks: 'Events sent to URLs of yours.',
  sinks: 'Streams of the ledger to a SIEM or an object store.',
  compliance: 'Reports, verification, dry-runs and replays.',
  scorers: 'Scores for results of evaluations.',
  guard: 'Checks of texts for attacks, secrets and personal data.',
}

/** The statuses with a certain success header; the other headers come with 200 and 201. */
const ONLY_WITH: Partial<Record<AnswerHeader, readonly number[]>> = {
  Location: [201, 202],
  'Set-Cookie': [204],
  'Retry-After': [202],
}

/** Returns the headers that a request to an endpoint may have, as parameters of the operation. */
const headerParameters = (endpoint: Endpoint) =>
  headersTaken(endpoint).map((name) => ({
    name,
    in: 'header',
    required: false,
    ...REQUEST_HEADERS[name],
  }))

function headersTaken(endpoint: Endpoint): RequestHeader[] {
  const { method, takes = [] } = endpoint
  return [
    ...(method === 'POST' ? (['Idempotency-Key'] as const) : []),
    ...takes,
    ...(method !== 'GET' && hasReceipt(endpoint) ? (['Prefer'] as const) : []),
  ]
}

/** Returns true if the response has a receipt; then it can include the signed note. */
const hasReceipt = ({ ok }: Endpoint): boolean =>
  JSON.stringify(z.toJSONSchema(ok, { unrepresentable: 'any' })).includes('"#/$defs/Receipt"')

function successHeaders({ sends = [], ...endpoint }: Endpoint, status: number): Json {
  const own = sends.filter((name) => (ONLY_WITH[name] ?? [200, 201]).includes(status))
  const limits = ['RateLimit', 'RateLimit-Policy'] as const
  const replays =
    endpoint.method === 'POST' && !endpoint.public
      ? (['Idempotency-First-Request-Id', 'Idempotency-Replayed'] as const)
      : []
  return linked([...own, ...replays, ...(endpoint.public ? [] : limits), 'X-Request-Id'])
}

export const problemHeaders = (open: boolean): Json =>
  linked(['Retry-After', ...(open ? [] : (['WWW-Authenticate'] as const)), 'X-Request-Id'])

const linked = (names: readonly AnswerHeader[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

/** Errors that follow from the shape of an endpoint, by status, as `serve` in core throws them. */
const COMMON = {
  400: ['invalid_request', 'invalid_json', 'invalid_idempotency_key'],
  401: ['unauthorized'],
  403: [
    'plan_required',
    'role_required',
    'insufficient_scope',
    'principal_not_allowed',
    'organization_suspended',
  ],
  409: ['idempotency_mismatch', 'idempotency_in_progress'],
  410: ['answer_erased'],
  412: ['version_mismatch'],
  413: ['body_too_large'],
  415: ['unsupported_media_type'],
  429: ['rate_limited', 'jobs_busy'],
} as const satisfies Record<number, readonly ProblemCode[]>

type CommonStatus = keyof typeof COMMON

const NAMES: Readonly<Record<CommonStatus, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  409: 'Conflict',
  410: 'Gone',
  412: 'PreconditionFailed',
  413: 'ContentTooLarge',
  415: 'UnsupportedMediaType',
  429: 'TooManyRequests',
}

function commonStatuses({ method, body, ...rest }: Endpoint): CommonStatus[] {
  const { public: open, viaWriter, takes = [] } = rest
  const post = method === 'POST'
  return [
    // Also a query that the endpoint does not have.
    400,
    ...(open ? [] : [401 as const, 403 as const]),
    ...(post ? [409 as const] : []),
    ...(post && viaWriter ? [410 as const] : []),
    ...(takes.includes('If-Match') ? [412 as const] : []),
    ...(body ? [413 as const, 415 as const] : []),
    ...(open ? [] : [429 as const]),
  ]
}

/** Returns the error responses of an operation, by status. */
function problemResponses(endpoint: Endpoint): Json {
  const own = Object.groupBy(endpoint.problems ?? [], (code) => PROBLEMS[code][0])
  const common = commonStatuses(endpoint)
  const statuses = [...new Set([...common, ...Object.keys(own).map(Number)])].toSorted(
    (a, b) => a - b,
  )
  const response = (status: number) => {
    const shared = common.find((one) => one === status)
    const codes = own[status as CommonStatus] ?? []
    if (shared && codes.length === 0 && !endpoint.form)
      return { $ref: `#/components/responses/${NAMES[shared]}` }
    return problem(new Set([...codes, ...(shared ? COMMON[shared] : [])]), endpoint)
  }
  return {
    ...Object.fromEntries(statuses.map((status) => [status, response(status)])),
    default: {
      ...problem([], endpoint),
      description: 'Another problem (RFC 9457). With 503 nothing was done; ask again.',
    },
  }
}

function problem(codes: Iterable<ProblemCode>, { form, public: open }: Partial<Endpoint>): Json {
  const type = form ? 'application/json' : 'application/problem+json'
  return {
    description: [...codes].map((code) => `- \`${code}\`: ${PROBLEMS[code][1]}.`).join('\n'),
    headers: problemHeaders(open === true),
    content: { [type]: { schema: { $ref: '#/components/schemas/Problem' } } },
  }
}

/** Returns the responses that `problemResponses` refers to. */
const problemComponents = (): Json =>
  Object.fromEntries(
    Object.entries(COMMON).map(([status, codes]) => [
      NAMES[Number(status) as CommonStatus],
      problem(codes, {}),
    ]),
  )

/** The body of every problem. */
const PROBLEM_SCHEMA: Json = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', enum: Object.keys(PROBLEMS) },
    request_id: { type: 'string' },
    errors: {
      type: 'array',
      description: 'The first fifty faults of the request.',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
    errors_omitted: {
      type: 'integer',
      minimum: 1,
      description: 'Number of faults that are not listed.',
    },
  },
}

export type Json = Record<string, unknown>
export type Components = Map<string, unknown>

const DEFS = '#/$defs/'
const SCHEMAS = '#/components/schemas/'

/**
 * Returns the JSON Schema 2020-12 of a zod type; shared schemas are moved to `components`. `parent`
 * is the name of the operation, for its own field descriptions.
 */
export function jsonSchema(
  schema: z.ZodType,
  io: 'input' | 'output',
  components: Components,
  parent: string,
): Json {
  const { $schema: _, $defs, ...root } = made(schema, io)
  const defs = new Map(Object.entries(($defs as Json | undefined) ?? {}))
  const isInline = io === 'input' ? havingDefaults(defs) : () => false
  for (const [id, shared] of defs) {
    const component = describe(link(shared, defs, isInline), id)
    if (!isInline(id)) components.set(id, component)
  }
  const { id, ...rest } = link(root, defs, isInline) as Json
  if (typeof id !== 'string' || rest['$ref'] !== undefined) return describe(rest, parent) as Json
  if (io === 'input' && hasDefault(root)) return { title: id, ...(describe(rest, id) as Json) }
  components.set(id, describe(rest, id))
  return { $ref: SCHEMAS + id }
}

const made = (schema: z.ZodType, io: 'input' | 'output'): Json =>
  z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: json }) => {
      // A default makes a member optional in requests; responses always have it.
      if (io === 'output') delete json.default
      // Zod omits the default of a transformed value, such as a number in text form.
      else if (zodSchema instanceof z.ZodDefault)
        json.default ??= zodSchema.def.defaultValue as typeof json.default
      // A pattern has no flags in JSON Schema, and without `u` a property escape has another
      // meaning.
      if (json.pattern?.includes('\\p{')) delete json.pattern
    },
  }) as Json

/**
 * Returns the shared schemas that lead to a property with a default. Type generators treat such a
 * property as required, as in a response, unless its schema is inline in the request.
 */
function havingDefaults(defs: ReadonlyMap<string, unknown>): (id: string) => boolean {
  const leads = (id: string): boolean => {
    const node = defs.get(id)
    return hasDefault(node) || refsOf(node).some((ref) => ref !== id && leads(ref))
  }
  const known = new Map([...defs.keys()].map((id) => [id, leads(id)]))
  return (id) => known.get(id) ?? false
}

const isObject = (node: unknown): node is Json => typeof node === 'object' && node !== null

/** Yields the direct sub-schemas of a schema, with the names of properties. */
function* below(node: unknown): Generator<[schema: unknown, property: string | null]> {
  if (!isObject(node)) return
  for (const [key, value] of Object.entries(node)) {
    if (key === 'properties' && isObject(value)) {
      for (const [name, property] of Object.entries(value)) yield [property, name]
    } else if (isObject(value) && key !== 'default' && key !== 'enum') yield [value, null]
  }
}

const hasDefault = (node: unknown): boolean =>
  isObject(node) &&
  ((!Array.isArray(node) && 'default' in node) || [...below(node)].some(([one]) => hasDefault(one)))

const refsOf = (node: unknown): string[] =>
  isObject(node)
    ? [
        ...(typeof node['$ref'] === 'string' ? [node['$ref'].slice(DEFS.length)] : []),
        ...[...below(node)].flatMap(([one]) => refsOf(one)),
      ]
    : []

/** Points references to the components, and replaces references to inline schemas. */
function link(
  node: unknown,
  defs: ReadonlyMap<string, unknown>,
  isInline: (id: string) => boolean,
): unknown {
  if (Array.isArray(node)) return node.map((one) => link(one, defs, isInline))
  if (!isObject(node)) return node
  const { $ref, ...rest } = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, link(value, defs, isInline)]),
  )
  if (typeof $ref !== 'string') return rest
  const id = $ref.slice(DEFS.length)
  if (!isInline(id)) return { $ref: SCHEMAS + id, ...rest }
  const { id: _, ...shared } = link(defs.get(id), defs, isInline) as Json
  return { title: id, ...shared, ...rest }
}

/** Adds a description to every property: its own, else the default one. */
export function describe(node: unknown, parent: string): unknown {
  if (Array.isArray(node)) return node.map((one) => describe(one, parent))
  if (!isObject(node)) return node
  const scope = typeof node['title'] === 'string' ? node['title'] : parent
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) =>
      key === 'properties' && isObject(value)
        ? [key, describeProperties(value, scope)]
        : [key, key === 'default' || key === 'enum' ? value : describe(value, scope)],
    ),
  )
}

const describeProperties = (properties: Json, parent: string): Json =>
  Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => {
      const own = describe(schema, name) as Json
      const description = own['description'] ?? fieldText(parent, name)
      return [name, description === undefined ? own : { ...own, description }]
    }),
  )
