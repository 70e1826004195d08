import { describe, expect, it } from 'vitest'
import type { $ZodTypes } from 'zod/v4/core'
import { z } from 'zod'
import { endpoints } from './contract.ts'
import { mapOf } from './primitives.ts'
import { REASONS } from './reasons.ts'
import type { ReasonFacts } from './reasons.ts'

const all = Object.entries(endpoints)

interface Schema {
  readonly def: $ZodTypes['_zod']['def']
}

/** The schemas in a schema, by name. */
function partsOf({ def }: Schema): [name: string, part: unknown][] {
  switch (def.type) {
    case 'object':
      return Object.entries(def.shape)
    case 'array':
      return [['[]', def.element]]
    case 'union':
      return def.options.map((option, i) => [`|${i}`, option])
    case 'record':
      return [['{}', def.valueType]]
    case 'pipe':
      return [
        ['in', def.in],
        ['out', def.out],
      ]
    case 'lazy':
      return [['()', def.getter()]]
    default:
      return 'innerType' in def ? [['', def.innerType]] : []
  }
}

/** The records of a schema that are not made by `mapOf`. */
function recordsIn(schema: unknown, place: string, isMap = false): string[] {
  const parts = partsOf(schema as Schema)
  const checks = parts.some(([, part]) => (part as Schema).def.type === 'transform')
  return [
    ...((schema as Schema).def.type === 'record' && !isMap ? [place] : []),
    ...parts.flatMap(([name, part]) => recordsIn(part, `${place}.${name}`, checks)),
  ]
}

describe('the contract', () => {
  it('has every method of a path once', () => {
    const places = all.map(([, { method, path }]) => `${method} ${path}`)

    expect(new Set(places).size).toBe(places.length)
  })

  it.each(all)('%s has exactly the parameters that its path names', (_, { path, params }) => {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const shape = (params as { shape?: object } | undefined)?.shape ?? {}

    expect(Object.keys(shape)).toEqual(inPath)
  })

  it.each(all)('%s takes no parameter of its path that has U+0000', (_, { params }) => {
    const names = Object.keys((params as { shape?: object } | undefined)?.shape ?? {})
    const given = Object.fromEntries(names.map((name) => [name, 'a\0b']))
    const issues = params?.safeParse(given).error?.issues ?? []

    // PostgreSQL takes no text with it. Of a query it is refused before anything else.
    expect(new Set(issues.map(({ path }) => path[0]))).toEqual(new Set(names))
  })

  it.each(all)(
    '%s refuses unknown fields of its body, query and parameters',
    (_, { body, query, params, lenient }) => {
      for (const schema of lenient ? [query, params] : [body, query, params]) {
        const result = schema?.safeParse({ an_unknown_field: 1 })
        const codes = result?.error?.issues.map(({ code }) => code)
        expect(codes ?? ['unrecognized_keys']).toContain('unrecognized_keys')
      }
    },
  )

  it.each(all.filter(([, { lenient }]) => !lenient))(
    '%s loses no member of a map: it has no record that would drop __proto__',
    (_, { body }) => expect(body === undefined ? [] : recordsIn(body, 'body')).toEqual([]),
  )

  it.each(all)(
    '%s has a body only where it is a POST, PUT or PATCH, and is under /v1',
    (_, { method, body, path }) => {
      expect(body === undefined || ['POST', 'PUT', 'PATCH'].includes(method)).toBe(true)
      // AuthZEN says where its endpoints are.
      expect(path).toMatch(/^\/v1\/|^\/access\/v1\/|^\/\.well-known\//)
    },
  )

  it.each(all.filter(([, { lenient }]) => lenient))(
    '%s is lenient: it ignores fields that nobody knows, and is not ours to change',
    (_, { body, path, form = false }) => {
      const codes = body?.safeParse({ an_unknown_field: 1 }).error?.issues.map(({ code }) => code)
      expect(codes ?? []).not.toContain('unrecognized_keys')
      expect(path.startsWith('/v1/')).toBe(form || path.startsWith('/v1/hooks/'))
    },
  )

  it.each(all.filter(([, { public: open, sameOrigin }]) => open && !sameOrigin))(
    '%s is public: it reads, takes nothing and names no role or scope',
    (_, { method, body, params, query, roles, scope }) => {
      expect({ method, body, params, query, roles, scope }).toEqual({
        method: 'GET',
        roles: [],
        scope: null,
      })
    },
  )

  it.each(all)(
    '%s says so if its body replaces a whole object',
    (_, { method, summary, ...row }) => {
      expect(row.replaces ?? false).toBe(method === 'PUT' || / or replace /.test(summary))
    },
  )

  it.each(all)('%s says what it does in one sentence', (_, { summary }) => {
    expect(summary).toMatch(/^[A-Z].{5,99}[^.]$/)
  })

  it('lets nobody but admins in where no role is named, and never names admin', () => {
    expect(all.filter(([, { roles }]) => roles.includes('admin'))).toEqual([])
  })
})

describe('mapOf', () => {
  const labels = mapOf(z.string().max(5), z.string())

  it('takes what a record takes', () => {
    expect(labels.parse({ team: 'a' })).toEqual({ team: 'a' })
    expect(labels.safeParse({ longer_name: 'a' }).success).toBe(false)
    expect(labels.safeParse([]).success).toBe(false)
  })

  it('refuses a member __proto__, which a record would lose', () => {
    const given: unknown = JSON.parse('{"team":"a","__proto__":"b"}')
    const messages = labels.safeParse(given).error?.issues.map(({ message }) => message)

    expect(messages).toEqual(['must have no member named __proto__'])
  })
})

describe('a reason of a decision', () => {
  it('needs a value for every fact that a reader takes', () => {
    const { decision, policies, needsMatch, spend } = REASONS.spend_limit_daily
    // @ts-expect-error without the decision
    const noDecision: ReasonFacts = { policies, needsMatch, spend }
    // @ts-expect-error without the part of the policies
    const noPolicies: ReasonFacts = { decision, needsMatch, spend }
    // @ts-expect-error without whether it names what it refers to
    const noMatch: ReasonFacts = { decision, policies, spend }
    // @ts-expect-error without the cause of a denial by spend
    const noSpend: ReasonFacts = { decision, policies, needsMatch }
    const facts = new Set(Object.values(REASONS).map((row) => Object.keys(row).toSorted().join()))

    expect([noDecision, noPolicies, noMatch, noSpend]).toHaveLength(4)
    expect([...facts]).toEqual(['decision,needsMatch,policies,spend'])
  })
})
