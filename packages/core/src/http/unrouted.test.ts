import { describe, expect, it } from 'vitest'
import { refuseUnrouted } from './app.ts'

describe('refuseUnrouted', () => {
  const refuse = refuseUnrouted([
    { method: 'GET', path: '/v1/ledger/{seq}' },
    { method: 'GET', path: '/v1/ledger/checkpoint' },
    { method: 'POST', path: '/v1/ledger' },
    { method: 'GET', path: '/v1/ledger' },
    { method: 'GET', path: '/openapi.json' },
  ])

  it.each([
    ['/v1/ledger', 'GET, HEAD, POST'],
    ['/v1/ledger/7', 'GET, HEAD'],
    ['/v1/ledger/checkpoint', 'GET, HEAD'],
    ['/openapi.json', 'GET, HEAD'],
  ])('%s takes %s', (path, allow) => {
    expect(refuse(path)).toMatchObject({
      code: 'method_not_allowed',
      extras: { headers: { Allow: allow } },
    })
  })

  it.each([
    '/',
    '/v1/ledger/',
    '/v1/ledger/7/x',
    '/v1/ledger/7/',
    '/openapixjson',
    '/v1/ledgers',
    'x/v1/ledger',
  ])('there is no %s', (path) => {
    expect(refuse(path)).toMatchObject({ code: 'not_found' })
  })
})
