import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { endpoints } from './contract.ts'
import { endpoint } from './endpoint.ts'
import { openApi } from './openapi.ts'
import { PROBLEMS } from './problem.ts'

interface Operation {
  readonly operationId: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
  }[]
  readonly requestBody?: { readonly content: Record<string, { readonly schema: object }> }
  readonly responses: Record<
    string,
    { readonly content?: Record<string, { readonly schema: object }> }
  >
  readonly [extension: string]: unknown
}

interface Document {
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { readonly schemas: Record<string, unknown> }
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

  it('refers only to schemas that it has, and has only schemas that it refers to', () => {
    const refs = new Set(refsOf(document))
    const known = Object.keys(document.components.schemas).map(
      (name) => `#/components/schemas/${name}`,
    )

    expect(refs).toEqual(new Set(known))
  })

  it('is made of plain JSON, and the same every time', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document)
    expect(JSON.stringify(openApi(endpoints, '1'))).toBe(JSON.stringify(document))
  })

  it.each(operations)(
    '$method $path documents its success, its refusals and who may call it',
    ({ operation }) => {
      const { status, alsoStatus, plan, roles, oauth, ...rest } = endpoints[operation.operationId]!
      const { public: open, keyless } = rest

      const expected = [status, ...(alsoStatus ? [alsoStatus] : [])].map(String)
      expect(Object.keys(operation.responses)).toEqual(
        expect.arrayContaining([...expected, 'default']),
      )
      expect(operation.responses['default']?.content).toHaveProperty([
        oauth ? 'application/json' : 'application/problem+json',
      ])
      expect(operation['x-plan']).toBe(plan)
      expect(operation['x-roles']).toEqual(open ? [] : ['admin', ...roles])
      expect(operation['security']).toEqual(open ? [] : keyless ? [{ key: [] }, {}] : undefined)
    },
  )

  it('names every format of an answer that has several', () => {
    const report = operations.find(({ operation }) => operation.operationId === 'getReport')
    const content = report?.operation.responses['200']?.content ?? {}

    expect(Object.keys(content)).toEqual(['application/json', 'text/csv', 'text/html'])
    expect(content['text/csv']).toEqual({ schema: { type: 'string' } })
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
      const name = refsOf(schema)[0]?.split('/').at(-1) ?? ''

      expect(document.components.schemas[name]).toMatchObject({ type: 'object' })
      expect(document.components.schemas[name]).toHaveProperty(
        'additionalProperties',
        lenient ? {} : false,
      )
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
    const common = {
      method: 'POST',
      plan: 'open',
      roles: [],
      scope: null,
      summary: 'Test it',
      status: 200,
    } as const
    const made = openApi(
      {
        test: endpoint({
          ...common,
          path: '/v1/test',
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
