import { openChromium } from '@remit/testing/browser'
import { CHROMIUM } from '@remit/testing/pure'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createServer } from '../src/boot/serve.ts'
import type { RunningServer } from '../src/boot/serve.ts'
import { readConfig } from '../src/settings/config.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

if (CHROMIUM === null) process.stderr.write('skipped: the API reference needs a Chromium\n')

interface Document {
  readonly paths: { readonly '/v1/scorers': { readonly post: { readonly summary: string } } }
}

const PATHS = ['/docs', '/docs/reference.css', '/docs/openapi-explorer.js']

describe('the API reference', () => {
  let installation: Installation
  let server: RunningServer
  beforeAll(async () => {
    installation = await createInstallation()
    server = await createServer(
      readConfig({ ...installation.env, REMIT_DOCS_URL: 'https://docs.example.com/?a=1&b="<' }),
      { log: pino({ level: 'error' }) },
    )
  })
  afterAll(async () => {
    await server.stop()
    await installation.remove()
  })

  test('cannot be framed, keeps its base URL and sends no form', async () => {
    const { headers } = await fetch(`${server.url}/docs`)

    expect(headers.get('content-security-policy')?.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
      ]),
    )
  })

  test.each([...PATHS, '/openapi.json'])('%s is not sniffed', async (path) => {
    const response = await fetch(server.url + path)

    expect(response.status).toBe(200)
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  })

  test.each(PATHS)('%s takes GET and HEAD', async (path) => {
    const response = await fetch(server.url + path, { method: 'POST' })

    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET, HEAD')
  })

  test.skipIf(CHROMIUM === null)(
    'renders the operations and requests nothing from another host',
    async () => {
      const browser = await openChromium()
      try {
        const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as Document
        const { summary } = document.paths['/v1/scorers'].post
        const page = await browser.newPage()
        const requested: string[] = []
        const complaints: string[] = []
        page.on('request', (request) => requested.push(request.url()))
        page.on('console', (message) => complaints.push(message.text()))
        page.on('pageerror', (error) => complaints.push(error.message))
        await page.goto(`${server.url}/docs`)
        const guides = page.getByRole('link', { name: 'Guides' })
        expect(await guides.getAttribute('href')).toBe('https://docs.example.com/?a=1&b=%22%3C')
        await page.getByText('scorers', { exact: true }).first().click()
        await page.getByText(summary).first().click()
        await page.getByText('/v1/scorers').first().waitFor()

        expect(requested.filter((url) => url.startsWith('http')).toSorted()).toEqual(
          [...PATHS, '/openapi.json'].map((path) => server.url + path).toSorted(),
        )
        expect(complaints).toEqual([])
      } finally {
        await browser.close()
      }
    },
  )
})
