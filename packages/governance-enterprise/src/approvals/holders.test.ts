import { expect, test } from 'vitest'
import { holdersIn, mayBeOne } from './holders.ts'

const key = (id: string, created_by: string | null, person: string | null = null) => ({
  id,
  created_by,
  person,
})

const HOLDERS = holdersIn(
  [
    key('key_ada', null, 'Ada@old.example'),
    key('key_of_session', 'per_ada'),
    key('key_of_key', 'key_ada'),
    key('key_rotated', 'key_of_key'),
    key('key_for_bob', 'key_ada', 'bob@example.org'),
    key('key_first', null),
    key('key_second', null),
    key('key_a', 'key_first'),
    key('key_b', 'key_first'),
    key('key_of_gone', 'per_gone'),
  ],
  [
    { names: ['per_ada', 'ada@example.org', 'ada@old.example'] },
    { names: ['per_bob', 'bob@example.org'] },
  ],
)

test.each([
  ['per_ada', 'key_of_session', true],
  ['per_ada', 'key_ada', true],
  ['per_ada', 'key_of_key', true],
  ['key_of_session', 'key_rotated', true],
  ['key_of_session', 'key_for_bob', true],
  ['per_bob', 'key_for_bob', true],
  ['key_a', 'key_b', true],
  ['key_a', 'key_first', true],
  ['per_ada', 'per_bob', false],
  ['per_bob', 'key_of_session', false],
  ['key_ada', 'key_first', false],
  ['key_a', 'key_second', false],
  // Who is gone may be back as somebody else.
  ['key_of_gone', 'per_bob', true],
  ['key_of_gone', 'key_second', true],
])('one person may be behind %s and %s: %s', (a, b, expected) => {
  expect(mayBeOne(a, b, HOLDERS)).toBe(expected)
  expect(mayBeOne(b, a, HOLDERS)).toBe(expected)
})
