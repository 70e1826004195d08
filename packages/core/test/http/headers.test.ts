import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestRemit } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { ALL, pathOf, problemOf, standIn } from './support.ts'

let remit: TestRemit
let key: string
beforeAll(async () => {
  remit = await createTestRemit({ modules: [standIn] })
  ;({ key } = await remit.organization())
})
afterAll(() => remit.close())

const success = (headers = {}) => remit.call('GET', '/v1/scorers', { key, headers })
const refusal = (headers = {}) => remit.call('GET', '/v1/scorers', { headers })
const missing = (headers = {}) => remit.call('GET', '/v1/nothing', { headers })

describe('X-Request-Id', () => {
  const kinds = [
    ['a success', success],
    ['a refusal', refusal],
    ['a path that is not there', missing],
  ] as const

  it.each(kinds)('is echoed by %s when it is sane', async (_, send) => {
    for (const id of [
      'a',
      '7f9c24e8-3b12-4e1d-8f5a-0c5d2b1a9e77',
      'trace:1/2+3=@x',
      'x'.repeat(128),
    ]) {
      expect((await send({ 'x-request-id': id })).headers.get('x-request-id')).toBe(id)
    }
  })

  it.each(kinds)('is new on %s when it is not', async (_, send) => {
    for (const id of ['', ' ', 'a b', 'x'.repeat(129), '<script>', '{"a":1}', 'ä', 'a,b']) {
      const answered = (await send({ 'x-request-id': id })).headers.get('x-request-id')
      expect(answered).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    }
  })

  it('is another for every request', async () => {
    const ids = await Promise.all(
      Array.from({ length: 10 }, async () => (await success()).headers.get('x-request-id')),
    )

    expect(new Set(ids).size).toBe(10)
  })
})

describe('Cache-Control', () => {
  it('lets nothing under /v1 be stored', async () => {
    for (const response of [await success(), await refusal(), await missing()]) {
      expect(response.headers.get('cache-control')).toBe('no-store')
    }
  })
})

describe('405', () => {
  const byPath = Map.groupBy(ALL, ([, endpoint]) => endpoint.path)

  it.each([...byPath.keys()])('%s names the methods there are', async (path) => {
    const found = byPath.get(path)?.map(([, endpoint]) => endpoint) ?? []
    const methods = found.map(({ method }) => method)
    const expected = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].toSorted()

    for (const method of ['OPTIONS', 'PROPFIND', 'PROPPATCH']) {
      const response = await remit.call(method, path.replace(/\{\w+\}/g, '1'), { key })
      expect((await problemOf(response, found[0])).code).toBe('method_not_allowed')
      expect(response.headers.get('allow')).toBe(expected.join(', '))
    }
  })

  it.each(['/health', '/ready', '/metrics', '/openapi.json'])('%s takes GET only', async (path) => {
    const response = await remit.call('POST', path)

    expect((await problemOf(response)).code).toBe('method_not_allowed')
    expect(response.headers.get('allow')).toBe('GET, HEAD')
  })

  it('HEAD is answered like GET, without a body', async () => {
    const [head, get] = [await remit.call('HEAD', '/v1/scorers', { key }), await success()]

    expect([head.status, head.headers.get('content-type')]).toEqual([
      get.status,
      get.headers.get('content-type'),
    ])
    expect(await head.text()).toBe('')
  })
})

describe('404', () => {
  it.each([
    '/',
    '/v1',
    '/v1/',
    '/v2/authorize',
    '/v1/authorize/',
    '/v1//authorize',
    '/V1/authorize',
    '/v1/Authorize',
    '/v1/authorize.json',
    '/v1/ledger/1/proof/x',
    '/v1/spend-limits/',
    '/docs/../package.json',
    '/docs/package.json',
    '/%',
    '/v1/%E0%A4%A',
    '/__proto__',
    '/.env',
  ])('%s, with a key or without', async (path) => {
    const answers = [await remit.call('GET', path), await remit.call('GET', path, { key })]

    for (const answer of answers) expect((await problemOf(answer)).code).toBe('not_found')
  })

  it('every path above the open tier, in the community edition', async () => {
    const community = await createTestRemit()
    const admin = (await community.organization()).key

    for (const [, endpoint] of ALL.filter(([, { plan }]) => plan !== 'open')) {
      for (const options of [{}, { key: admin }]) {
        const response = await community.call(endpoint.method, pathOf(endpoint), options)
        expect((await problemOf(response)).code).toBe('not_found')
      }
    }
    await community.close()
  })
})
