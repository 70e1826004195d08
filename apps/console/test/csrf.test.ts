import { sampled } from '@remit/testing/pure'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canRunAll, openBrowser, openTab, startSession } from './support/browser.ts'
import type { Tab } from './support/browser.ts'
import { startOtherOrigin } from './support/other-origin.ts'
import type { OtherOrigin } from './support/other-origin.ts'
import { createInstallation } from './support/server.ts'
import type { Installation, Server } from './support/server.ts'

/**
 * A page of another origin attacks somebody who is signed in. Ports are no part of a site: a page of
 * `localhost` gets the cookie into its requests, a page of `127.0.0.1` does not.
 */
describe.skipIf(!canRunAll)('a page of another origin, in Chromium', () => {
  let other: OtherOrigin
  let installation: Installation
  let server: Server
  let browser: Browser
  let victim: Tab
  let requestId: string
  let keyId: string
  let attackersKey: string
  beforeAll(async () => {
    ;[other, installation, browser] = await Promise.all([
      startOtherOrigin(),
      createInstallation(),
      openBrowser(),
    ])
    // The worst case: the pages of one other origin may call the API with keys.
    const started = await installation.start({
      REMIT_CORS_ORIGINS: `http://localhost:${other.port}`,
    })
    server = { ...started, url: started.url.replace('127.0.0.1', 'localhost') }
    await server.api.setApprovalRule({ params: { id: 'all' }, body: { actions: ['mail.*'] } })
    const asked = await server.api.authorize({ body: { agent_id: 'a', action: 'mail.send' } })
    requestId = asked.request_id ?? ''
    const created = await server.api.createKey({ body: { role: 'read' } })
    keyId = created.key.id
    attackersKey = (await server.api.createKey({ body: { role: 'read' } })).secret!
    victim = await openTab(browser, server, {
      hosts: [`localhost:${other.port}`, `127.0.0.1:${other.port}`],
    })
    await startSession(victim, server, server.key)
  })
  afterAll(async () => {
    await browser?.close()
    await installation?.remove()
    await other?.close()
  })

  /** State that an attack could have changed. */
  const state = async () => {
    const { data: entries } = await server.api.listEntries({ query: { limit: 50 } })
    // The server writes heartbeats by itself.
    const ledger = entries.filter(({ kind }) => kind !== 'ledger.heartbeat').map(({ hash }) => hash)
    const { status, votes } = await server.api.getApproval({ params: { id: requestId } })
    const { data } = await server.api.listKeys()
    const session = await victim.context.request.get(`${server.url}/v1/session`)
    const { principal } = (await session.json()) as { principal: unknown }
    return { ledger, status, votes, keys: data.map(({ revoked_at }) => revoked_at), principal }
  }
  const targets = () => {
    const vote = { decision: 'approve' }
    return [
      ['POST', `/v1/approvals/${requestId}/decide`, vote],
      ['POST', `/v1/keys/${keyId}/rotate`, null],
      ['DELETE', `/v1/keys/${keyId}`, null],
      ['POST', '/v1/keys', { role: 'admin' }],
      ['POST', '/v1/policies', { effect: 'allow', actions: ['payments.*'] }],
      ['POST', '/v1/people', { email: 'eve@example.org', role: 'admin' }],
      ['PATCH', '/v1/organization', { settings: { default_effect: 'allow' } }],
      ['POST', '/v1/ledger', { action: 'x.y' }],
      ['DELETE', '/v1/session', null],
      ['POST', '/v1/session', { key: attackersKey }],
    ] as const
  }
  const both = [
    ['the same site', 'localhost'],
    ['another site', '127.0.0.1'],
  ] as const
  const origins = sampled(both, 2, 1)

  test.each(origins)('of %s changes nothing with fetch, and reads nothing', async (_, host) => {
    const before = await state()
    expect(before.principal).not.toBeNull()
    const { page } = victim
    other.html = ''
    await page.goto(`http://${host}:${other.port}/`)
    const answers = await page.evaluate<string[]>(`(async () => {
      const targets = ${JSON.stringify(targets())}
      const types = ['application/json', 'text/plain', 'application/x-www-form-urlencoded', null]
      const read = []
      for (const [method, path, value] of targets)
        for (const mode of ['cors', 'no-cors'])
          for (const type of types) {
            const url = '${server.url}' + path
            const body = value === null ? undefined : JSON.stringify(value)
            const headers = type === null ? {} : { 'content-type': type }
            const init = { method, mode, headers, body, credentials: 'include' }
            await fetch(url, init).then(
              async (response) => read.push(await response.text()),
              () => undefined,
            )
            navigator.sendBeacon(url, body)
          }
      for (const path of ['/v1/session', '/v1/keys', '/v1/ledger'])
        await fetch('${server.url}' + path, { credentials: 'include' }).then(
          async (response) => read.push(await response.text()),
          () => undefined,
        )
      return read
    })()`)

    expect(answers.filter((text) => text !== '')).toEqual([])
    expect(await state()).toEqual(before)
  })

  test.each(origins)('of %s changes nothing with forms', async (_, host) => {
    const before = await state()
    const { page } = victim
    const posts = targets().filter(([method]) => method === 'POST')
    for (const [, path, value] of posts)
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data',
      ]) {
        // As text/plain, a name and its value around "=" can be valid JSON.
        const json = JSON.stringify(value ?? {}).replace(/\}$/, `${value ? ',' : ''}"x":"`)
        other.html = `<form method="post" enctype="${type}" action="${server.url}${path}">
          <input name='${json}' value='"}'></form>`
        await page.goto(`http://${host}:${other.port}/`)
        const answered = page.waitForURL(server.url + path)
        await page.evaluate('document.forms[0].submit()')
        await answered
      }

    expect(await state()).toEqual(before)
  })

  test('cannot frame the console, and its links only show pages', async () => {
    const before = await state()
    const { page } = victim
    const links = [
      `/console/approvals?id=${requestId}&decision=approve`,
      `/v1/approvals/${requestId}/decide?decision=approve`,
      `/v1/approvals/${requestId}`,
      `/v1/keys/${keyId}/rotate`,
      '/console/login?prompt=login',
      '/console/start?token=x',
    ].map((path) => server.url + path)
    other.html = [
      `<iframe src="${server.url}/console/approvals"></iframe>`,
      ...links.map((link) => `<img src="${link}"><a href="${link}">go</a>`),
    ].join('')
    await page.goto(`http://localhost:${other.port}/`, { waitUntil: 'load' })
    const frames = page.frames().slice(1)
    expect(frames).toHaveLength(1)
    expect(frames[0]!.url()).toBe('chrome-error://chromewebdata/')

    for (const link of links) {
      await page.goto(`http://localhost:${other.port}/`)
      const shown = page.waitForURL((url) => url.href.startsWith(server.url))
      await page.locator(`a[href="${link}"]`).click()
      await shown
    }
    expect(await state()).toEqual(before)
  })
})
