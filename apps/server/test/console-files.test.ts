import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTestRemit, scratchFolder } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { consoleFiles } from '../src/boot/console-files.ts'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'; require-trusted-types-for 'script'"

describe('the console at /console', () => {
  let folder: string
  let remit: TestRemit
  beforeEach(async () => {
    folder = scratchFolder('console')
    remit = await createTestRemit({ console: consoleFiles(join(folder, 'dist')) })
  })
  afterEach(async () => {
    await remit.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const build = (shell = '<!doctype html>shell') => {
    mkdirSync(join(folder, 'dist/assets'), { recursive: true })
    const files = {
      'assets/app-1a2b.js': 'js',
      'assets/app-1a2b.js.br': 'js as br',
      'assets/app-1a2b.js.gz': 'js as gz',
      'assets/plain-3c.svg': '<svg/>',
      'index.html': shell,
      'index.html.br': `br ${shell}`,
    }
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(folder, 'dist', name), text)
    writeFileSync(join(folder, 'secret.txt'), 'secret')
  }
  const get = async (path: string, accept = '') => {
    const response = await remit.app.request(path, { headers: { 'accept-encoding': accept } })
    return { response, status: response.status, text: await response.text() }
  }
  const header = async (path: string, name: string, accept = '') =>
    (await get(path, accept)).response.headers.get(name)

  it('is 404 without a build, and appears when it is built, without a restart', async () => {
    expect((await get('/console')).status).toBe(404)
    build()
    expect((await get('/console')).text).toBe('<!doctype html>shell')
    build('a newer shell')
    utimesSync(join(folder, 'dist/index.html'), 1, 1)
    expect((await get('/console')).text).toBe('a newer shell')
    rmSync(join(folder, 'dist'), { recursive: true })
    expect((await get('/console')).status).toBe(404)
  })

  it.each(['/console', '/console/', '/console/policies', '/console/ledger/7', '/console/a.b'])(
    'answers %s with the shell, its policy and no cache',
    async (path) => {
      build()
      const { response, status, text } = await get(path)
      expect([status, text]).toEqual([200, '<!doctype html>shell'])
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': POLICY,
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      })
    },
  )

  it('serves assets for ever, and none that is not there', async () => {
    build()
    expect(await header('/console/assets/app-1a2b.js', 'cache-control')).toBe(
      'public, max-age=31536000, immutable',
    )
    expect(await header('/console/assets/app-1a2b.js', 'content-type')).toBe(
      'text/javascript; charset=utf-8',
    )
    expect((await get('/console/assets/app-0000.js')).status).toBe(404)
    expect((await get('/console/assets/app-1a2b.js.br')).status).toBe(404)
  })

  it.each([
    ['', null, 'js'],
    ['br', 'br', 'js as br'],
    ['gzip, deflate, br', 'br', 'js as br'],
    ['gzip', 'gzip', 'js as gz'],
    ['br;q=0, gzip;q=0.1', 'gzip', 'js as gz'],
    ['*', 'br', 'js as br'],
    ['*, br;q=0', 'gzip', 'js as gz'],
    ['identity', null, 'js'],
  ])('answers Accept-Encoding %j with the coding %j', async (accept, coding, text) => {
    build()
    const answer = await get('/console/assets/app-1a2b.js', accept)
    expect([answer.response.headers.get('content-encoding'), answer.text]).toEqual([coding, text])
    expect(answer.response.headers.get('vary')).toContain('Accept-Encoding')
  })

  it.each([
    '/console/../secret.txt',
    '/console/..%2fsecret.txt',
    '/console/%2e%2e/secret.txt',
    '/console/assets/../../secret.txt',
    '/console/assets/..%2f..%2fsecret.txt',
    '/console//etc/passwd',
    '/console/%00',
  ])('%s shows no other file', async (path) => {
    build()
    const { status, text } = await get(path)
    expect(status === 404 || text === '<!doctype html>shell').toBe(true)
  })

  it('refuses other methods', async () => {
    build()
    const response = await remit.app.request('/console', { method: 'POST' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    const head = await remit.app.request('/console', { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })
})
