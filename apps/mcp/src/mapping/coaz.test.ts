import { MappingError } from '@remit/contract/coaz'
import { describe, expect, it } from 'vitest'
import { compileCoaz } from './coaz.ts'

const token = { sub: 'alice@example.com', client_id: 'agent' }
const params = {
  name: 'transfer_funds',
  arguments: { from: 'acc-1', to: 'acc-2', amount: 20_000, currency: 'USD' },
}
const TARGET = {
  action: { name: 'read' },
  resource: { type: 'account', id: '$params.arguments.from' },
}
const ask = (evaluation: object, inputs: object = {}) =>
  compileCoaz({ evaluation: { ...TARGET, ...evaluation } })({ params, token, ...inputs })

describe('a mapping of AuthZEN for MCP', () => {
  it('makes action, resource and context of literals and expressions', () => {
    const made = ask({
      subject: { type: 'identity', id: '$token.sub' },
      action: { name: "$params.arguments.currency == 'USD' ? 'domestic' : 'international'" },
      context: {
        agent: '$token.?client_id',
        target: '$params.arguments.to',
        sensitivity: "$params.arguments.amount > 10000.0 ? 'high' : 'standard'",
        price: '$$50',
        limit: 10,
        list: '$[params.name, token.sub]',
      },
    })

    expect(made).toEqual({
      action: 'domestic',
      resource: { type: 'account', id: 'acc-1' },
      context: {
        agent: 'agent',
        target: 'acc-2',
        sensitivity: 'high',
        price: '$50',
        limit: 10,
        list: ['transfer_funds', 'alice@example.com'],
      },
    })
  })

  it('leaves an optional member out that is missing', () => {
    const context = { agent: '$token.?client_id', person: '$token.?sub' }

    expect(ask({ context }, { token: { sub: 'bob' } }).context).toEqual({ person: 'bob' })
  })

  it.each([
    ['a missing argument', { resource: { type: 'account', id: '$params.arguments.none' } }],
    ['an empty identifier', { resource: { type: 'account', id: '' } }],
    ['an identifier that is no text', { resource: { type: 'account', id: '$params.arguments' } }],
    ['an optional member that is required', { action: { name: '$token.?none' } }],
  ])('is an error of a call with %s', (_, evaluation) => {
    expect(() => ask(evaluation)).toThrow(MappingError)
  })

  it.each([
    [{ evaluations: {} }, 'must have "evaluation"'],
    [{ evaluation: TARGET, evaluations: {} }, 'must have "evaluation"'],
    [{ evaluation: { ...TARGET, subject: { id: 'mallory' } } }, 'evaluation.subject.id: '],
    [
      { evaluation: { ...TARGET, subject: { id: '$params.arguments.to' } } },
      'evaluation.subject.id',
    ],
    [{ evaluation: { ...TARGET, action: {} } }, 'evaluation.action.name: is required'],
    [
      { evaluation: { ...TARGET, action: { name: '$params.' } } },
      'evaluation.action.name: $params.',
    ],
    [{ evaluation: { ...TARGET, other: 1 } }, 'evaluation.other: is not a known field'],
  ])('refuses %j', (mapping, message) => {
    expect(() => compileCoaz(mapping)).toThrow(message)
  })
})
