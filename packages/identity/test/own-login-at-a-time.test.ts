import { createOutbound } from '@remit/core/net'
import { LOGIN_CLIENT, oidcSettings, startLoginProvider } from '@remit/testing'
import { expect, it } from 'vitest'
import { createApi } from './support/api.ts'

it('few login providers of an organization are looked at a time; beyond, 429', async () => {
  const answer = Promise.withResolvers<string[]>()
  let looking = 0
  const provider = await startLoginProvider()
  const oidc = oidcSettings(provider)
  const api = await createApi({
    settings: { oidc },
    outbound: createOutbound({
      allowLoopback: true,
      resolveText: () => {
        looking += 1
        return answer.promise
      },
    }),
  })
  const refused = Promise.withResolvers<void>()
  const changes = Array.from({ length: 30 }, async () => {
    const { issuer } = provider
    const { clientId: client_id, clientSecret: client_secret } = LOGIN_CLIENT
    const body = { issuer, client_id, client_secret, domains: ['example.com'] }
    const { status } = await api.call('setLoginProvider', { body })
    if (status === 429) refused.resolve()
    return status
  })
  await refused.promise
  await expect.poll(() => looking).toBe(4)
  answer.resolve([])

  const statuses = await Promise.all(changes)
  expect(statuses.filter((status) => status === 429)).toHaveLength(10)
  await api.remit.close()
  await provider.close()
})
