import type { ClaimCondition } from '@remit/contract'
import { expect, it } from 'vitest'
import { passesAll } from './issuer.ts'

const claims = { text: 'repo:acme/x', number: 65, flag: true, list: ['a'], none: null }
const TABLE: readonly (readonly [ClaimCondition, boolean])[] = [
  [{ claim: 'text', equals: 'repo:acme/x' }, true],
  [{ claim: 'text', equals: 'REPO:acme/x' }, false],
  [{ claim: 'number', equals: 65 }, true],
  [{ claim: 'number', equals: '65' }, false],
  [{ claim: 'flag', equals: true }, true],
  [{ claim: 'flag', equals: 'true' }, false],
  [{ claim: 'list', equals: 'a' }, false],
  [{ claim: 'list', in: ['a'] }, false],
  [{ claim: 'number', in: ['65', 65] }, true],
  [{ claim: 'number', in: ['65'] }, false],
  [{ claim: 'text', prefix: 'repo:acme/' }, true],
  [{ claim: 'text', prefix: 'repo:acme-evil/' }, false],
  [{ claim: 'number', prefix: '6:' }, false],
  [{ claim: 'none', equals: 'null' }, false],
  [{ claim: 'missing', equals: 'x' }, false],
  [{ claim: 'toString', prefix: 'function:' }, false],
  [{ claim: '__proto__', equals: 'x' }, false],
]

it.each(TABLE)('a condition %j gives %s', (condition, passes) => {
  expect(passesAll([condition], claims)).toBe(passes)
})

it('all conditions must pass', () => {
  const [good, bad] = [
    { claim: 'number', equals: 65 },
    { claim: 'number', equals: 66 },
  ]
  expect(passesAll([good, good], claims)).toBe(true)
  expect(passesAll([good, bad], claims)).toBe(false)
})
