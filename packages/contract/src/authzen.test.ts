import { describe, expect, it } from 'vitest'
import { AccessEvaluation, AccessEvaluations, MAX_EVALUATIONS } from './authzen.ts'

const ASK = {
  subject: { type: 'user', id: 'alice' },
  action: { name: 'read' },
  resource: { type: 'record', id: 'record-1' },
}
const pathsOf = (schema: typeof AccessEvaluation | typeof AccessEvaluations, value: unknown) =>
  schema.safeParse(value).error?.issues.map(({ path }) => path.join('.')) ?? []

describe('AccessEvaluation', () => {
  it('takes the four entities, and leaves what it does not know', () => {
    const sent = { ...ASK, context: { a: 1 }, next: { b: 2 } }

    expect(AccessEvaluation.parse(sent)).toEqual(sent)
  })

  it.each([
    ['no subject', { ...ASK, subject: undefined }, 'subject'],
    ['no action', { ...ASK, action: undefined }, 'action'],
    ['no resource', { ...ASK, resource: undefined }, 'resource'],
    ['a subject without a type', { ...ASK, subject: { id: 'a' } }, 'subject.type'],
    ['a subject without an id', { ...ASK, subject: { type: 'a' } }, 'subject.id'],
    ['an action without a name', { ...ASK, action: {} }, 'action.name'],
    ['a resource without a type', { ...ASK, resource: { id: 'a' } }, 'resource.type'],
    ['a resource without an id', { ...ASK, resource: { type: 'a' } }, 'resource.id'],
    ['text for a subject', { ...ASK, subject: 'alice' }, 'subject'],
    ['a number for a name', { ...ASK, action: { name: 123 } }, 'action.name'],
    [
      'a list for properties',
      { ...ASK, action: { name: 'a', properties: [] } },
      'action.properties',
    ],
    ['null for a context', { ...ASK, context: null }, 'context'],
    ['a pattern for an id', { ...ASK, subject: { type: 'user', id: '*' } }, 'subject.id'],
  ])('refuses %s', (_, value, path) => {
    expect(pathsOf(AccessEvaluation, value)).toEqual([path])
  })
})

describe('AccessEvaluations', () => {
  it.each([
    ['no evaluations', {}],
    ['an empty list', { evaluations: [] }],
  ])('is a single request with %s', (_, more) => {
    expect(pathsOf(AccessEvaluations, { ...ASK, ...more })).toEqual([])
    expect(pathsOf(AccessEvaluations, { action: ASK.action, ...more })).toEqual([
      'subject',
      'resource',
    ])
  })

  it('takes half entities for defaults', () => {
    expect(pathsOf(AccessEvaluations, { resource: { type: 'record' }, evaluations: [{}] })).toEqual(
      [],
    )
  })

  it('leaves faults of an evaluation to that evaluation', () => {
    for (const item of [{}, { subject: 'alice' }, null, 7]) {
      expect(pathsOf(AccessEvaluations, { evaluations: [item] })).toEqual([])
    }
  })

  it.each([
    ['evaluations that are no list', { ...ASK, evaluations: {} }, 'evaluations'],
    ['a default of another type', { subject: 'alice', evaluations: [{}] }, 'subject'],
    [
      'a semantic that is none',
      { ...ASK, evaluations: [{}], options: { evaluations_semantic: 'any' } },
      'options.evaluations_semantic',
    ],
    [
      'too many evaluations',
      { ...ASK, evaluations: Array.from({ length: MAX_EVALUATIONS + 1 }, () => ({})) },
      'evaluations',
    ],
  ])('refuses %s', (_, value, path) => {
    expect(pathsOf(AccessEvaluations, value)).toEqual([path])
  })
})
