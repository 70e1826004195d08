import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canRunAll, openBrowser, openTab, settled, startSession } from './support/browser.ts'
import type { Tab } from './support/browser.ts'
import { startServer } from './support/server.ts'
import type { Server } from './support/server.ts'

describe.skipIf(!canRunAll)('Verify here, in Chromium', () => {
  let server: Server
  let browser: Browser
  let tab: Tab
  let seq: number
  beforeAll(async () => {
    ;[server, browser] = await Promise.all([startServer(), openBrowser()])
    const { ledger } = await server.api.appendEntry({
      body: { action: 'deploy.finished', metadata: { note: 'one' } },
    })
    seq = ledger.seq
    tab = await openTab(browser, server)
    await startSession(tab, server, server.key)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  const verdict = async (): Promise<string> => {
    const { page } = tab
    await page.goto(`/console/ledger/${seq}`)
    await settled(page)
    await page.getByRole('button', { name: 'Verify here' }).click()
    await page.getByRole('button', { name: 'Verify again' }).waitFor()
    const status = page.getByRole('status', { name: /^(?:Verified|Not verified|Not checked)/ })
    return (await status.getAttribute('aria-label')) ?? ''
  }

  test('a good entry is verified, first on first sight and then from the last checkpoint', async () => {
    expect(await verdict()).toMatch(/^Verified: /)
    await server.api.appendEntry({ body: { action: 'deploy.finished' } })
    expect(await verdict()).toMatch(/^Verified: /)
    expect(await tab.page.getByRole('listitem').getByLabel('correct').count()).toBe(6)
  })

  test.each([
    ['payload', /\\"one\\"/, '\\"two\\"', 'Not verified: the payload'],
    ['payload', /"note\\":/, '"nota\\":', 'Not verified: the payload'],
    ['salt', /"salt":"[0-9a-f]/, '"salt":"x', 'Not verified: the payload'],
    ['hash', /"hash":"[0-9a-f]{8}/, '"hash":"00000000', 'Not verified: the header'],
    ['proof', /\nindex \d+/, '\nindex 1', 'Not verified: the proof is for another entry'],
    ['signature', /(\n\u2014 \S+ \S{30,40}?)[^A]/, '$1A', 'Not verified: '],
    ['root', /(\n\d+\n\S{0,20}?)[^A]/, '$1A', 'Not verified: the path'],
    ['key', /\+[0-9a-f]{8}\+/, '+00000000+', 'Not verified: '],
  ] as const)('one change in the %s of the answer is named', async (_, from, to, text) => {
    let changed = 0
    await tab.page.route(/\/v1\/ledger\/(?:\d+|keys)(?:\/proof)?(?:\?|$)/, async (route) => {
      const response = await route.fetch()
      const before = await response.text()
      const body = before.replace(from, to)
      if (body !== before) changed += 1
      await route.fulfill({ response, body })
    })
    try {
      expect(await verdict()).toContain(text)
      expect(changed).toBeGreaterThan(0)
    } finally {
      await tab.page.unrouteAll({ behavior: 'wait' })
    }
  })

  test('a ledger that did not grow from the last checkpoint is named', async () => {
    await server.api.appendEntry({ body: { action: 'deploy.finished' } })
    let changed = 0
    await tab.page.route(/\/v1\/ledger\/consistency/, async (route) => {
      const response = await route.fetch()
      const answer = (await response.json()) as { proof: string[] }
      changed += 1
      const proof = answer.proof.map((_, at) => Buffer.alloc(32, at).toString('base64'))
      await route.fulfill({ response, json: { ...answer, proof: [...proof, proof[0]] } })
    })
    try {
      expect(await verdict()).toMatch(/^Not verified: /)
      expect(changed).toBe(1)
    } finally {
      await tab.page.unrouteAll({ behavior: 'wait' })
    }
    expect(await verdict()).toMatch(/^Verified: /)
  })

  test.each([
    ['importKey', `crypto.subtle.importKey = () => Promise.reject(new Error('no'))`],
    ['verify', `crypto.subtle.verify = () => Promise.reject(new DOMException('no'))`],
  ])('a browser without Ed25519 in %s says "not checked"', async (_, script) => {
    const { page } = tab
    await page.goto(`/console/ledger/${seq}`)
    await page.evaluate(script)
    await settled(page)
    await page.getByRole('button', { name: 'Verify here' }).click()

    await page.getByRole('status', { name: /^Not checked: / }).waitFor()
    expect(await page.getByRole('status', { name: /^Verified/ }).count()).toBe(0)
  })
})
