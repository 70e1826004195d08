import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { extname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { openChromium } from '@remit/testing/browser'
import { CHROMIUM, inFullRun, programEnv } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const isRun = inFullRun('the site of the docs') && CHROMIUM !== null

if (CHROMIUM === null) process.stderr.write('skipped: the site of the docs needs a Chromium\n')

const root = resolve(import.meta.dirname, '../../..')
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
}

/** Any server of files: the site needs no other. */
const serve = (folder: string): Promise<Server> =>
  new Promise((done) => {
    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://site')
      const file = join(folder, pathname === '/' ? 'index.html' : decodeURIComponent(pathname))
      readFile(file).then(
        (body) =>
          response.setHeader('content-type', TYPES[extname(file)] ?? 'text/plain').end(body),
        () => response.writeHead(404).end(),
      )
    }).listen(0, '127.0.0.1', () => done(server))
  })

describe.skipIf(!isRun)('the site of the docs', () => {
  let folder: string
  let server: Server
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'remit-docs-'))
    const program = join(root, 'node_modules/vitepress/bin/vitepress.js')
    // Fails for a link to a page, a heading or a file that does not exist.
    await promisify(execFile)(process.execPath, [program, 'build', 'docs', '--outDir', folder], {
      cwd: root,
      env: programEnv({}),
    })
    server = await serve(folder)
  }, 120_000)
  afterAll(() => {
    server.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('finds a page by its words and draws diagrams, without another host', async () => {
    const browser = await openChromium()
    try {
      const address = server.address()
      const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
      const page = await browser.newPage()
      const elsewhere: string[] = []
      const complaints: string[] = []
      page.on('request', (request) => {
        if (!request.url().startsWith(url) && !request.url().startsWith('data:'))
          elsewhere.push(request.url())
      })
      page.on('pageerror', (error) => complaints.push(error.message))
      await page.goto(url)
      await page.getByRole('button', { name: 'Search' }).click()
      await page.locator('#localsearch-input').fill('deny by default')
      await page.locator('.VPLocalSearchBox a[href*="faq.html"]').first().click()
      await page.getByRole('heading', { level: 1, name: 'FAQ' }).waitFor()
      for (const withDiagram of ['concepts', 'approvals']) {
        await page.goto(`${url}/${withDiagram}.html`)
        await page.locator('.mermaid svg').waitFor()
      }

      expect(elsewhere).toEqual([])
      expect(complaints).toEqual([])
    } finally {
      await browser.close()
    }
  })
})
