import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { endpoints } from '../contract.ts'
import { EXAMPLES } from './examples.ts'
import { FIELD_TABLES } from './fields.ts'
import { TAGS, openApi } from './document.ts'
import { endpoint } from '../endpoint.ts'
import { PROBLEMS } from '../problem.ts'

type Node = Record<string, unknown>

interface Operation {
  readonly operationId: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly parameters?: readonly { readonly name: string; readonly description?: string }[]
  readonly responses: Readonly<Record<string, { readonly description?: string }>>
}

interface Document {
  readonly servers: readonly unknown[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly responses: Readonly<Record<string, { description: string }>> }
}

const document = openApi(endpoints, '1') as unknown as Document
const operationsOf = ({ paths }: Document) =>
  Object.values(paths).flatMap((methods) => Object.values(methods))
const operations = operationsOf(document)

const isObject = (node: unknown): node is Node => typeof node === 'object' && node !== null

/** Paths of properties and parameters without a description. */
function* withoutDescription(node: unknown, place = ''): Generator<string> {
  if (!isObject(node)) return
  for (const [key, value] of Object.entries(node)) {
    const at = `${place}/${key}`
    if (key === 'example' || !isObject(value)) continue
    if (key === 'properties') {
      for (const [name, property] of Object.entries(value)) {
        if (!hasText(property)) yield `${at}/${name}`
        yield* withoutDescription(property, `${at}/${name}`)
      }
    } else {
      if (key === 'parameters') {
        for (const one of value as unknown as Node[])
          if (!hasText(one)) yield `${at}/${String(one['name'])}`
      }
      yield* withoutDescription(value, at)
    }
  }
}

const hasText = (node: unknown): boolean =>
  isObject(node) && typeof node['description'] === 'string' && node['description'].length > 1

describe('the texts of the OpenAPI document', () => {
  it('describe every property and every parameter', () => {
    expect([...withoutDescription(document)]).toEqual([])
  })

  it.each(operations)('describe the operation $operationId in whole sentences', (operation) => {
    expect(operation.description).toMatch(/^[A-Z].{20,}\.$/)
  })

  it('are missed where a field or an operation has none', () => {
    const made = openApi(
      {
        unknown: endpoint('GET /v1/test', {
          plan: 'open',
          summary: 'Test it',
          query: z.strictObject({ unheard_of: z.string() }),
          ok: z.object({ list: z.array(z.object({ unheard_of: z.string() })) }),
        }),
      },
      '1',
    )

    expect([...withoutDescription(made)].map((place) => place.split('/').at(-1))).toEqual([
      'unheard_of',
      'list',
      'unheard_of',
    ])
    expect(operationsOf(made as unknown as Document)[0]).not.toHaveProperty('description')
  })

  it('have each row of the vocabulary once, and use each', () => {
    const rows = FIELD_TABLES.flatMap((table) => Object.entries(table))
    const text = JSON.stringify(document)
    const unused = rows.filter(
      ([, description]) => !text.includes(`"description":${JSON.stringify(description)}`),
    )

    expect(new Set(rows.map(([key]) => key)).size).toBe(rows.length)
    expect(unused).toEqual([])
  })

  it('declare every tag that an operation has, and no other', () => {
    const used = new Set(operations.flatMap(({ tags }) => tags))

    expect(new Set(document.tags.map(({ name }) => name))).toEqual(used)
    expect(new Set(Object.keys(TAGS))).toEqual(used)
    expect(document.servers).not.toEqual([])
  })

  it('name every problem of a status 4XX with some operation', () => {
    const text = JSON.stringify([document.paths, document.components.responses])
    // Refusals before the endpoint is known.
    const early = ['method_not_allowed', 'request_timeout', 'header_too_large']
    // Refusals of the operator API, which is not in this document.
    const ofOperators = [
      'organization_not_found',
      'organization_exists',
      'organization_active',
      'deletion_not_due',
    ]
    const outside = new Set([...early, ...ofOperators])
    const unnamed = Object.entries(PROBLEMS)
      .filter(([code, [status]]) => status < 500 && !outside.has(code))
      .filter(([code]) => !text.includes(`\`${code}\``))

    expect(unnamed).toEqual([])
  })

  it.each(operations)('name the refusals of $operationId under their statuses', (operation) => {
    const statuses = Object.keys(operation.responses).filter((status) => status.startsWith('4'))
    expect(statuses).not.toEqual([])
    for (const code of endpoints[operation.operationId]?.problems ?? []) {
      const { description } = operation.responses[PROBLEMS[code][0]] ?? {}
      expect(description).toContain(`\`${code}\``)
    }
  })

  it.each(Object.entries(EXAMPLES))(
    'have an example of %s that the contract takes',
    (name, example) => {
      const { params, body } = endpoints[name] ?? {}
      expect(example.params && params?.safeParse(example.params).error).toBeUndefined()
      expect(body?.safeParse(example.body).error).toBeUndefined()
    },
  )
})
