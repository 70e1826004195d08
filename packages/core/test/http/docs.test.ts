import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestRemit } from '../../src/testing/index.ts'
import type { TestRemit } from '../../src/testing/index.ts'

describe('/docs', () => {
  let remit: TestRemit
  beforeAll(async () => {
    remit = await createTestRemit()
  })
  afterAll(() => remit.close())

  it('can be framed by no page, keeps its base URL and sends no form', async () => {
    const { headers } = await remit.call('GET', '/docs')

    const policy = headers.get('content-security-policy')?.split('; ')
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
      ]),
    )
  })

  it.each([
    '/docs',
    '/docs/start.js',
    '/docs/swagger-ui.css',
    '/docs/swagger-ui-bundle.js',
    '/openapi.json',
  ])('lets no browser guess the media type of %s', async (path) => {
    const response = await remit.call('GET', path)

    expect(response.status).toBe(200)
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  })
})
