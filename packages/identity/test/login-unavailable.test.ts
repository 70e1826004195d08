import { createOutbound } from '@remit/core/net'
import {
  LOGIN_CLIENT,
  oidcSettings,
  apiOf,
  createMigratedDatabase,
  createTestRemit,
  startLoginProvider,
  startMovingAddress,
  LOGIN_BASE as BASE,
  LoginBrowser,
} from '@remit/testing'
import type { Api, LoginProvider, MovingAddress, TestDatabase, TestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { modules } from './support/api.ts'

describe('a sign-in while the database is unavailable', () => {
  let provider: LoginProvider
  let database: TestDatabase
  let address: MovingAddress
  let remit: TestRemit
  let api: Api
  const returning: { browser: LoginBrowser; url: URL }[] = []
  beforeAll(async () => {
    provider = await startLoginProvider([BASE])
    database = await createMigratedDatabase('postgres', modules)
    address = await startMovingAddress(database.url)
    const oidc = oidcSettings(provider)
    const outbound = createOutbound({ allowLoopback: true })
    remit = await createTestRemit({ url: address.url, modules, outbound, settings: { oidc } })
    api = apiOf(remit, await remit.organization('team'))
    await provider.register([BASE], [api.org.id])
    provider.subject = 'ada'
    provider.accounts.set('ada', { email: 'ada@a.example', email_verified: true, name: 'Ada' })
    const { clientId: client_id, clientSecret: client_secret } = LOGIN_CLIENT
    await api.ok('setLoginProvider', {
      body: { issuer: provider.issuer, client_id, client_secret },
    })
    for (const path of ['/console/login', `/console/login?organization=${api.org.id}`]) {
      const browser = new LoginBrowser(remit)
      const isReturn = ({ pathname }: URL) => pathname.startsWith('/console/callback')
      returning.push({ browser, url: (await browser.open(path, isReturn)).url })
    }
    await address.close()
  })
  afterAll(async () => {
    await remit.close()
    await database.drop()
    await provider.close()
  })

  const expectUnavailable = (page: { status: number; text: string }) => {
    expect(page).toMatchObject({
      status: 503,
      text: expect.stringContaining('The service is unavailable. Try again later.'),
    })
    expect(page.text).toContain('<!doctype html>')
    expect(page.text).not.toContain('identity provider')
  }

  it('ends on a page that does not blame the identity provider', async () => {
    const path = `/console/login?organization=${api.org.id}&next=%2Fconsole%2Fagents`
    const page = await new LoginBrowser(remit).open(path)

    expectUnavailable(page)
    expect(page.text).toContain(`organization=${api.org.id}`)
  })

  it('ends on that page after the return from the provider of the server or an organization', async () => {
    expect(returning).toHaveLength(2)
    for (const { browser, url } of returning) expectUnavailable(await browser.open(url.href))
  })
})
