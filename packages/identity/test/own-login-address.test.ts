import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createOutbound } from '@remit/core/net'
import { apiOf, createTestRemit } from '@remit/testing'
import type { Api, TestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { modules } from './support/api.ts'

describe('the address of a provider', () => {
  let api: Api
  let remit: TestRemit
  beforeAll(async () => {
    const safe = createOutbound({
      allowLoopback: true,
      resolve: () => Promise.resolve([{ address: '10.0.0.8', family: 4 }]),
    })
    remit = await createTestRemit({ modules, outbound: safe })
    api = apiOf(remit, await remit.organization('team'))
  })
  afterAll(() => remit.close())

  const problemOf = (issuer: string) =>
    api.refusal('setLoginProvider', { body: { issuer, client_id: 'x', client_secret: null } })

  it.each([
    ['http://login.example.com', 'must be an https URL'],
    ['https://169.254.169.254', 'must have a host name, not an IP address'],
    ['https://login.internal', 'must have a host of the public internet'],
    ['https://login.example.com?x=1', 'must not have a query'],
    ['https://login.example.com', 'a non-public address'],
    ['nonsense', 'must be an absolute https URL'],
    [' https://login.example.com', 'must not start or end with a blank'],
  ])('%s is refused', async (issuer, reason) => {
    const { errors } = await problemOf(issuer)
    expect(errors).toEqual([{ path: 'issuer', message: expect.stringContaining(reason) }])
  })

  it('whose metadata leads inside the network or to a script is refused', async () => {
    const more: Record<string, string> = {}
    const server = createServer((_, response) => {
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ issuer, authorization_endpoint: `${issuer}/auth`, ...more }))
    })
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const body = { issuer, client_id: 'x', client_secret: null }
    more['issuer'] = 'https://other.example.com'
    expect((await problemOf(issuer)).errors).toMatchObject([
      { message: expect.stringContaining('not the metadata of this issuer') },
    ])
    more['issuer'] = issuer
    more['authorization_endpoint'] = 'javascript:alert(1)'
    await api.ok('setLoginProvider', { body })
    const page = await remit.app.request(`/console/login?organization=${api.org.id}`)
    expect(page.status).toBe(502)
    expect(await page.text()).not.toContain('javascript')
    server.close()
  })

  it.each([
    ['domains', ['Example.com'], 'must be a domain name in lower case'],
    ['domains', ['localhost'], 'must be a domain name in lower case'],
    ['scopes', 'profile', 'one of them openid'],
    ['role_map', [{ group: '', role: 'read' }], 'must be 1 to 256 printable characters'],
    ['client_secret', 'a b', 'must be 1 to 1024 printable ASCII characters'],
  ])('%s %j is refused by name', async (field, value, message) => {
    const body = { issuer: 'https://login.example.com', client_id: 'x', [field]: value }
    const { errors } = await api.refusal('setLoginProvider', { body })
    expect(errors?.[0]?.path).toContain(field)
    expect(errors?.[0]?.message).toContain(message)
  })
})
