import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bindingOf, boundMembers, shownText } from './binding.ts'

const asked = (request: object, claims: object = {}) =>
  bindingOf(
    { request: { agent_id: 'payer', action: 'payments.transfer', ...request }, claims },
    null,
  )

describe('the binding', () => {
  it('is the SHA-256 of the canonical JSON, written in base64url', () => {
    const { text, hash } = asked({ context: { b: 1, a: 'x', approval: { id: 'apr_1' } } })

    expect(text).toBe(
      '{"action":{"name":"payments.transfer"},"context":{"a":"x","b":1},"subject":{"id":"payer","type":"agent"}}',
    )
    expect(hash).toBe(createHash('sha256').update(text).digest('base64url'))
  })

  it.each([
    ['another member of approval', { id: 'apr_1', iban: 'A' }, { id: 'apr_1', iban: 'B' }],
    ['an added one', { id: 'apr_1' }, { id: 'apr_1', iban: 'B' }],
    ['a member of a member', { a: { id: 1 } }, { a: { id: 2 } }],
    ['an approval that is a text', 'A', 'B'],
    ['an approval that is a list', ['A'], ['B']],
    ['an approval that is null', null, { id: 'apr_1' }],
  ])('differs by %s, which rules can read', (_, approval, changed) => {
    expect(asked({ context: { approval } }).hash).not.toBe(
      asked({ context: { approval: changed } }).hash,
    )
  })

  it('is the same with and without the reference, and with another one', () => {
    const { hash } = asked({ context: { a: 1 } })

    expect(asked({ context: { a: 1, approval: { id: 'apr_1' } } }).hash).toBe(hash)
    expect(asked({ context: { a: 1, approval: {} } }).hash).toBe(hash)
    expect(asked({ context: { approval: { id: 'apr_1', iban: 'A' } } }).hash).toBe(
      asked({ context: { approval: { iban: 'A' } } }).hash,
    )
  })

  it('has the resource where there is one, however it is written', () => {
    const parts = asked({ resource: { type: 'account', id: '42' } })
    expect(asked({ resource: 'account:42' })).toEqual(parts)
    expect(parts.text).toContain('"resource":{"id":"42","type":"account"}')
    expect(asked({ resource: '' })).toEqual(asked({}))
    expect(asked({ resource: 'account' }).text).toContain('"resource":"account"')
    expect(asked({ resource: { type: 'account', id: '42', properties: { a: 1 } } })).not.toEqual(
      parts,
    )
  })

  it('compares numbers by value, and distinguishes null from absent', () => {
    const [first, second] = ['5e2', '500'].map((text) =>
      asked({ context: JSON.parse(`{"n":${text}}`) as object }),
    )
    expect(first).toEqual(second)
    expect(asked({ context: { n: null } })).not.toEqual(asked({ context: {} }))
    expect(asked({ context: {} })).toEqual(asked({}))
  })

  it('has the digests of omitted members, whatever the rules bind', () => {
    const bound = (omitted?: object) =>
      bindingOf(
        {
          request: {
            agent_id: 'payer',
            action: 'payments.transfer',
            context: { amount_usd: 5, args: { note: 'x' }, ...(omitted && { omitted }) },
          },
          claims: {},
        },
        ['amount_usd'],
      ).text

    expect(bound({ '/iban': 'digest-1' })).toContain('"omitted":{"/iban":"digest-1"}')
    expect(bound({ '/iban': 'digest-1' })).not.toBe(bound({ '/iban': 'digest-2' }))
    expect(bound({ '/iban': 'digest-1' })).not.toBe(bound({ '/bic': 'digest-1' }))
    expect(bound({ '/iban': 'digest-1' })).not.toBe(bound())
    expect(bound()).not.toContain('note')
  })

  it('includes the person the agent acts for and the properties of the action', () => {
    const plain = asked({})
    expect(asked({}, { subject: { type: 'agent', id: 'payer' } })).toEqual(plain)
    expect(asked({}, { subject: { type: 'user', id: 'alice' } })).not.toEqual(plain)
    expect(asked({}, { subject: { type: 'user', id: 'bob' } })).not.toEqual(
      asked({}, { subject: { type: 'user', id: 'alice' } }),
    )
    expect(asked({}, { actionProperties: { force: true } })).not.toEqual(plain)
  })

  it('differs for any two contexts that differ', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.string(),
        fc.jsonValue(),
        (context, name, value) => {
          fc.pre(name !== 'approval' && !('approval' in context))
          const changed = { ...context, [name]: value }
          const same = canonical(context) === canonical(changed)
          expect(asked({ context }).hash === asked({ context: changed }).hash).toBe(same)
        },
      ),
    )
  })

  it('keeps a member named like the prototype', () => {
    const context = JSON.parse('{"__proto__":{"a":1}}') as object
    expect(asked({ context }).text).toContain('"context":{"__proto__":{"a":1}}')
  })
})

/** Another writer of canonical JSON: names sorted at every level. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}

describe('narrowed to some members of the context', () => {
  const narrow = (context: object) =>
    bindingOf({ request: { agent_id: 'a', action: 'b', context: { ...context } }, claims: {} }, [
      'amount',
    ])

  it('the rest may change', () => {
    expect(narrow({ amount: 1, note: 'x' })).toEqual(narrow({ amount: 1, note: 'y' }))
    expect(narrow({ amount: 1 })).not.toEqual(narrow({ amount: 2 }))
    expect(narrow({})).not.toEqual(narrow({ amount: 1 }))
  })

  it('the lists of several rules are one, and a rule without a list binds all', () => {
    expect(boundMembers([['b'], ['a', 'b']])).toEqual(['a', 'b'])
    expect(boundMembers([['b'], null])).toBeNull()
    expect(boundMembers([[]])).toEqual([])
  })
})

describe('the text for an approver', () => {
  it.each([
    ['plain text', 'a b', 'a b'],
    ['letters of any script', 'Größe 漢字 😀', 'Größe 漢字 😀'],
    ['a turn of the direction', 'x\u202ey', 'x\\u{202e}y'],
    ['an isolate', '\u2066x\u2069', '\\u{2066}x\\u{2069}'],
    ['nothing that takes room', 'a\u200bb\u00adc\ufeffd', 'a\\u{200b}b\\u{ad}c\\u{feff}d'],
    ['another blank', 'a\u00a0b', 'a\\u{a0}b'],
    ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
    ['a control character', 'a\u0085b', 'a\\u{85}b'],
    ['letters as tags', 'a\u{e0041}b', 'a\\u{e0041}b'],
    ['a filler', 'a\u3164b', 'a\\u{3164}b'],
  ])('%s', (_, text, shown) => {
    expect(shownText(text)).toBe(shown)
  })

  it('cannot be imitated: a backslash of the text is doubled', () => {
    const { text } = asked({ context: { a: '\\u{202e}' } })
    expect(shownText(text)).toContain('"a":"\\\\u{202e}"')
  })
})
