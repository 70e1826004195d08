import { describe, expect, it } from 'vitest'
import { FORM_TYPE, parseForm } from './body.ts'

const parse = (text: string) => parseForm(Buffer.from(text, 'latin1'))

describe('parseForm', () => {
  it.each([
    ['token=a%20b+c&token_type_hint=x', { token: 'a b c', token_type_hint: 'x' }],
    ['token=%E2%82%AC', { token: '€' }],
    ['token=a=b', { token: 'a=b' }],
    ['token=&other', {}],
    ['', {}],
    [
      '__proto__=x&constructor=y',
      Object.fromEntries([
        ['__proto__', 'x'],
        ['constructor', 'y'],
      ]),
    ],
  ])('%j', (text, fields) => {
    expect(parse(text)).toEqual(fields)
    expect(Object.getPrototypeOf(parse(text))).toBe(Object.prototype)
  })

  it.each([
    ['a field twice', 'token=a&token=b', 'token: is given more than once'],
    ['a field twice, once without a value', 'token=a&token=', 'token: is given more than once'],
    ['a field twice, once escaped', 'token=a&%74oken=b', 'token: is given more than once'],
    ['NUL', 'token=a%00', 'token: must not contain U+0000'],
    ['bytes that are no UTF-8', 'token=\xff', 'body: must be a UTF-8 form'],
    ['escapes that are no UTF-8', 'token=%FF', 'body: must be a UTF-8 form'],
    ['an escape of nothing', 'token=%zz', 'body: must be a UTF-8 form'],
  ])('refuses %s', (_, text, message) => {
    expect(() => parse(text)).toThrow(message)
  })
})

describe('FORM_TYPE', () => {
  it.each([
    ['application/x-www-form-urlencoded', true],
    ['application/x-www-form-urlencoded; charset=UTF-8', true],
    ['Application/X-WWW-Form-Urlencoded;charset="utf-8"', true],
    ['application/x-www-form-urlencoded; charset=latin1', false],
    ['application/x-www-form-urlencodedx', false],
    ['multipart/form-data', false],
  ])('%s: %s', (type, accepted) => {
    expect(FORM_TYPE.test(type)).toBe(accepted)
  })
})
