import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { endpoints } from '../contract.ts'
import { endpoint } from '../endpoint.ts'
import type { Endpoint } from '../endpoint.ts'
import { openApi } from './document.ts'
import { PROBLEMS } from '../problem.ts'

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly schema: object
  }[]
  readonly requestBody?: { readonly content: Record<string, { readonly schema: object }> }
  readonly responses: Record<
    string,
    {
      readonly content?: Record<string, { readonly schema: object }>
      readonly headers?: Record<string, object>
    }
  >
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly [extension: string]: unknown
}

interface Document extends Pick<Operation, 'security'> {
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: {
    readonly schemas: Record<string, unknown>
    readonly responses: Record<string, unknown>
    readonly headers: Record<string, unknown>
    readonly securitySchemes: Record<string, unknown>
  }
}

const document = openApi(endpoints, '1') as unknown as Document
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

/** Every `$ref` below a node. */
const refsOf = (node: unknown): string[] => {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([name, value]) =>
    name === '$ref' ? [String(value)] : refsOf(value),
  )
}

describe('openApi', () => {
  it('has one operation for every endpoint, under its name, path and method', () => {
    expect(
      operations.map(({ path, method, operation }) => `${operation.operationId} ${method} ${path}`),
    ).toEqual(
      expect.arrayContaining(
        Object.entries(endpoints).map(([name, e]) => `${name} ${e.method.toLowerCase()} ${e.path}`),
      ),
    )
    expect(operations).toHaveLength(Object.keys(endpoints).length)
  })

  it.each([
    ['of all endpoints', () => true],
    ['of the community edition', ({ plan }: Endpoint) => plan === 'open'],
    ['of one endpoint', ({ path }: Endpoint) => path === '/v1/guard'],
  ])('the document %s refers only to what it has, and has only what it refers to', (_, isIn) => {
    const served = Object.entries(endpoints).filter(([, one]) => isIn(one))
    const made = openApi(Object.fromEntries(served), '1') as unknown as Document
    const known = (['schemas', 'responses', 'headers'] as const).flatMap((kind) =>
      Object.keys(made.components[kind]).map((name) => `#/components/${kind}/${name}`),
    )

    expect(new Set(refsOf(made))).toEqual(new Set(known))
    const secured = [made, ...Object.values(made.paths).flatMap((path) => Object.values(path))]
    expect(new Set(secured.flatMap(({ security = [] }) => security.flatMap(Object.keys)))).toEqual(
      new Set(Object.keys(made.components.securitySchemes)),
    )
  })

  it('is made of plain JSON, and the same every time', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document)
    expect(JSON.stringify(openApi(endpoints, '1'))).toBe(JSON.stringify(document))
  })

  it.each(operations)(
    '$method $path documents its success, its refusals and who may call it',
    ({ operation }) => {
      const { status, alsoStatus, plan, roles, ...rest } = endpoints[operation.operationId]!
      const { public: open, keyless, form } = rest
      const more = [...(form ? [{ client: [] }] : []), ...(keyless ? [{}] : [])]
      const own = more.length > 0 ? [{ key: [] }, { apiKey: [] }, ...more] : undefined

      const expected = [status, ...(alsoStatus ? [alsoStatus] : [])].map(String)
      expect(Object.keys(operation.responses)).toEqual(
        expect.arrayContaining([...expected, 'default']),
      )
      expect(operation.responses['default']?.content).toHaveProperty([
        form ? 'application/json' : 'application/problem+json',
      ])
      expect(operation['x-plan']).toBe(plan)
      expect(operation['x-roles']).toEqual(open ? [] : ['admin', ...roles])
      expect(operation['security']).toEqual(open ? [] : own)
    },
  )

  it('names every format of an answer that has several', () => {
    const report = operations.find(({ operation }) => operation.operationId === 'getReport')
    const content = report?.operation.responses['200']?.content ?? {}

    expect(Object.keys(content)).toEqual(['application/json', 'text/csv', 'text/html'])
    expect(content['text/csv']).toEqual({ schema: { type: 'string' } })
    expect(content['application/json']).toEqual({
      schema: {
        anyOf: [
          { $ref: '#/components/schemas/Report' },
          { $ref: '#/components/schemas/OscalResults' },
        ],
      },
    })
  })

  it.each([
    ['getCheckpoint', '200', { $ref: '#/components/schemas/CheckpointParts' }],
    ['getProof', '200', { $ref: '#/components/schemas/InclusionProof' }],
    ['createPolicy', '201', { $ref: '#/components/schemas/CreatedPolicy' }],
    [
      'createPolicy',
      '200',
      {
        anyOf: [
          { $ref: '#/components/schemas/CreatedPolicy' },
          { $ref: '#/components/schemas/Validation' },
        ],
      },
    ],
  ])('names the shapes of the JSON answer of %s', (name, status, schema) => {
    expect(operationOf(name)?.responses[status]?.content?.['application/json']).toEqual({ schema })
  })

  const operationOf = (name: string) =>
    operations.find(({ operation }) => operation.operationId === name)?.operation
  const parametersOf = (name: string) => operationOf(name)?.parameters ?? []
  const headersOf = (name: string, status: string) =>
    Object.keys(operationOf(name)?.responses[status]?.headers ?? {})

  it.each(
    operations.flatMap(({ operation }) =>
      (operation.parameters ?? []).filter(({ name }) => name === 'limit'),
    ),
  )('says what a limit can be, and what it is unless given', ({ schema }) => {
    expect(schema).toEqual({ type: 'integer', minimum: 1, maximum: 1000, default: 100 })
  })

  it('documents parameters that are numbers as numbers, with their range', () => {
    expect(parametersOf('getApproval').find(({ name }) => name === 'wait')?.schema).toEqual({
      type: 'integer',
      minimum: 0,
      maximum: 55,
      default: 0,
    })
    expect(parametersOf('getEntry')[0]?.schema).toEqual({
      type: 'integer',
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
    })
  })

  it('says of two parameters that exactly one is given', () => {
    expect(parametersOf('listReportEvidence')).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({
          name: 'control',
          description: 'Exactly one of this and `check` is required',
        }),
        expect.objectContaining({
          name: 'check',
          description: 'Exactly one of this and `control` is required',
        }),
      ]),
    )
  })

  it.each([
    ['authorize', ['Idempotency-Key', 'Prefer']],
    ['revokeKey', ['Prefer']],
    ['changeAgent', ['If-Match', 'Prefer']],
    ['removeAgent', ['If-Match']],
    ['streamApprovals', ['Last-Event-ID']],
    ['getApproval', []],
  ])('has the headers that a request of %s can have', (name, headers) => {
    const found = parametersOf(name).filter((parameter) => parameter.in === 'header')

    expect(found.map((header) => header.name)).toEqual(headers)
  })

  it.each([
    ['setSpendLimit', '201', ['Location']],
    ['setSpendLimit', '200', []],
    ['createReport', '201', ['Location', 'ETag', 'Content-Digest']],
    ['createReport', '202', ['Location', 'Retry-After']],
    ['getReport', '200', ['ETag', 'Content-Digest']],
    ['deletePolicy', '204', []],
  ])('has the headers that %s answers %s with', (name, status, own) => {
    const repeats = ['Idempotency-First-Request-Id', 'Idempotency-Replayed']
    const ofAll = ['RateLimit', 'RateLimit-Policy', 'X-Request-Id']
    const isPost = endpoints[name]?.method === 'POST'

    expect(headersOf(name, status)).toEqual([...own, ...(isPost ? repeats : []), ...ofAll])
  })

  it('has the headers of refusals', () => {
    expect(headersOf('authorize', 'default')).toEqual([
      'Retry-After',
      'WWW-Authenticate',
      'X-Request-Id',
    ])
  })

  it.each(operations.filter(({ method }) => method === 'post'))(
    '$method $path takes an Idempotency-Key',
    ({ operation }) => {
      expect(operation.parameters).toContainEqual(
        expect.objectContaining({ name: 'Idempotency-Key', in: 'header' }),
      )
    },
  )

  it.each(operations.filter(({ operation }) => operation.requestBody))(
    '$method $path says whether unknown fields are refused',
    ({ operation }) => {
      const { lenient } = endpoints[operation.operationId]!
      const { schema } = operation.requestBody?.content['application/json'] ?? {}
      const { $ref } = schema as { $ref?: string }
      const body = $ref ? document.components.schemas[$ref.split('/').at(-1) ?? ''] : schema

      expect(body).toMatchObject({ type: 'object' })
      expect(body).toHaveProperty('additionalProperties', lenient ? {} : false)
    },
  )

  it('lists every error code', () => {
    expect(document.components.schemas['Problem']).toMatchObject({
      properties: { code: { enum: Object.keys(PROBLEMS) } },
    })
  })

  it('only knows what it is given', () => {
    const { paths } = openApi({ guard: endpoints['checkContent']! }, '1') as unknown as Document

    expect(Object.keys(paths)).toEqual(['/v1/guard'])
  })

  it('describes the body as it is sent and the answer as it is received', () => {
    const Shared = z.object({ n: z.number().default(1) }).meta({ id: 'Shared' })
    const made = openApi(
      {
        test: endpoint('POST /v1/test', {
          plan: 'open',
          summary: 'Test it',
          body: z.strictObject({ n: z.number().default(1) }),
          ok: Shared,
        }),
      },
      '1',
    )

    const { paths, components } = made as unknown as Document
    expect(
      paths['/v1/test']?.['post']?.requestBody?.content['application/json']?.schema,
    ).not.toHaveProperty('required')
    expect(components.schemas['Shared']).toMatchObject({ required: ['n'] })
  })
})
