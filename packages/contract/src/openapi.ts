import { z } from 'zod'
import type { Endpoint } from './endpoint.ts'
import {
  headerComponents,
  headerParameters,
  refusalHeaders,
  successHeaders,
} from './openapi-headers.ts'
import { PROBLEMS } from './problem.ts'

type Json = Record<string, unknown>

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
      description: 'The first fifty faults of the input',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
    errors_omitted: { type: 'integer', minimum: 1, description: 'How many more there are' },
  },
}

/**
 * The OpenAPI 3.1 document of some endpoints, as a plain object. Schemas with a zod `id` become
 * components; two runs over the same endpoints give the same document.
 */
export function openApi(endpoints: Readonly<Record<string, Endpoint>>, version: string): Json {
  const components = new Map<string, unknown>()
  const paths: Record<string, Json> = {}
  for (const [name, endpoint] of Object.entries(endpoints)) {
    paths[endpoint.path] = {
      ...paths[endpoint.path],
      [endpoint.method.toLowerCase()]: operation(name, endpoint, components),
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Remit',
      version,
      description: 'Decides whether an AI agent may act, and keeps an account that shows it.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: {
      securitySchemes: {
        key: {
          type: 'http',
          scheme: 'bearer',
          description: 'Ingest key `rmk_…`, or credential of an agent `rmc_…`, `rmf_…`',
        },
      },
      schemas: {
        ...Object.fromEntries([...components].toSorted(([a], [b]) => (a < b ? -1 : 1))),
        Problem: PROBLEM_SCHEMA,
      },
      headers: headerComponents(),
    },
    security: [{ key: [] }],
  }
}

function operation(name: string, endpoint: Endpoint, components: Map<string, unknown>): Json {
  const fields = (schema: z.ZodType | undefined, where: 'path' | 'query') => {
    const { properties = {}, required = [] } = (
      schema ? jsonSchema(schema, 'input', components) : {}
    ) as {
      properties?: Json
      required?: string[]
    }
    return Object.entries(properties).map(([field, shape]) => ({
      name: field,
      in: where,
      required: where === 'path' || required.includes(field),
      schema: shape,
    }))
  }
  const parameters = [
    ...fields(endpoint.params, 'path'),
    ...fields(endpoint.query, 'query'),
    ...headerParameters(endpoint),
  ]
  const answer = (status: number) => success(endpoint, status, components)
  return {
    operationId: name,
    summary: endpoint.summary,
    tags: [tagOf(endpoint)],
    ...(endpoint.public && { security: [] }),
    ...(endpoint.keyless && { security: [{ key: [] }, {}] }),
    'x-plan': endpoint.plan,
    'x-roles': endpoint.public ? [] : ['admin', ...endpoint.roles],
    'x-scope': endpoint.scope,
    ...(parameters.length > 0 && { parameters }),
    ...(endpoint.body && {
      requestBody: {
        required: true,
        content: bodyContent(endpoint, endpoint.body, components),
      },
    }),
    responses: {
      [endpoint.status]: answer(endpoint.status),
      ...(endpoint.alsoStatus && { [endpoint.alsoStatus]: answer(endpoint.alsoStatus) }),
      default: {
        description: 'A problem (RFC 9457)',
        headers: refusalHeaders(endpoint),
        content: {
          [endpoint.oauth ? 'application/json' : 'application/problem+json']: {
            schema: { $ref: '#/components/schemas/Problem' },
          },
        },
      },
    },
  }
}

function bodyContent(endpoint: Endpoint, body: z.ZodType, components: Map<string, unknown>): Json {
  const content = { schema: jsonSchema(body, 'input', components) }
  const form = endpoint.form && { 'application/x-www-form-urlencoded': content }
  return { 'application/json': content, ...form }
}

/** The part of the API that an endpoint belongs to; what is not under /v1 has a standard's own paths. */
const tagOf = ({ path }: Endpoint): string => /^\/v1\/([^/]+)/.exec(path)?.[1] ?? 'authzen'

function success(endpoint: Endpoint, status: number, components: Map<string, unknown>): Json {
  const headers = successHeaders(endpoint, status)
  if (status === 204) return { description: 'Done', headers }
  const type = endpoint.produces ?? 'application/json'
  const others = endpoint.alsoProduces?.map((other) => [other, { schema: { type: 'string' } }])
  const schema = jsonSchema(endpoint.ok, 'output', components)
  const other = endpoint.alsoJson && { type: 'object', description: endpoint.alsoJson }
  return {
    description: 'The answer',
    headers,
    content: {
      [type]: { schema: other ? { anyOf: [schema, other] } : schema },
      ...Object.fromEntries(others ?? []),
    },
  }
}

/** JSON Schema 2020-12 of a zod type; what it shares is moved to `components`. */
function jsonSchema(
  schema: z.ZodType,
  io: 'input' | 'output',
  components: Map<string, unknown>,
): Json {
  const {
    $schema: _,
    $defs,
    ...rest
  } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    // Zod leaves out the default of what is transformed, such as a number that arrives as text.
    override: ({ zodSchema, jsonSchema: made }) => {
      if (zodSchema instanceof z.ZodDefault)
        made.default ??= zodSchema.def.defaultValue as typeof made.default
    },
  }) as Json
  for (const [id, shared] of Object.entries(($defs as Json | undefined) ?? {}))
    components.set(id, relink(shared))
  const linked = relink(rest) as Json
  const { id, ...component } = linked
  if (typeof id !== 'string' || linked['$ref'] !== undefined) return linked
  components.set(id, component)
  return { $ref: `#/components/schemas/${id}` }
}

function relink(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(relink)
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) =>
      key === '$ref' && typeof value === 'string'
        ? [key, value.replace('#/$defs/', '#/components/schemas/')]
        : [key, relink(value)],
    ),
  )
}
