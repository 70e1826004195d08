import type { z } from 'zod'
import { EXAMPLES } from './examples.ts'
import { fieldText } from './fields/index.ts'
import { OPERATIONS } from './operations/index.ts'
import { TAGS } from './tags.ts'
import type { Endpoint } from '../endpoint.ts'
import { ANSWER_HEADERS } from '../headers.ts'
import { headerParameters, successHeaders } from './headers.ts'
import { PROBLEM_SCHEMA, problemComponents, problemResponses } from './problems.ts'
import { describe, jsonSchema } from './schema.ts'
import type { Components, Json } from './schema.ts'

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
    ...(OPERATIONS[name] && { description: OPERATIONS[name].text }),
    tags: [tagOf(endpoint)],
    ...(endpoint.public && { security: [] }),
    ...(endpoint.form && {
      security: [...KEYS, { client: [] }, ...(endpoint.keyless ? [{}] : [])],
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
      ...problemResponses(name, endpoint),
    },
  }
}

/** Returns the parameters for fields in the path or the query. */
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
  const schema = jsonSchema(endpoint.ok, 'output', components, name)
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
