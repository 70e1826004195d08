import { expect, it } from 'vitest'
import { nextOf } from './sign-in.ts'

it.each([
  '/console',
  '/console/',
  '/console/ledger?kind=policy.created',
  '/console/approvals?id=a',
])('%s is opened after the sign-in', (asked) => {
  expect(nextOf(asked)).toBe(asked)
})

it.each([
  null,
  '',
  'https://evil.test/console',
  '//evil.test/console',
  '/\\evil.test/console',
  '\\\\evil.test/console',
  '/\t/evil.test/console',
  'javascript:alert(1)//console',
  'http://[/console',
  '/console/..//evil.test',
  '/console/%2e%2e/v1/keys',
  '/consoles',
  '/v1/session',
  '/console/login',
  '/console/callback?code=x',
  '/console/start?token=x',
  `/console?q=${'x'.repeat(1_000)}`,
])('%j is not: the start page is', (asked) => {
  expect(nextOf(asked)).toBe('/console')
})
