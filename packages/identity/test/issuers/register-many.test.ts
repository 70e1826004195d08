import { createOutbound } from '@remit/core/net'
import { expect, it } from 'vitest'
import { createFederation, issuerInput } from '../support/federation.ts'

it('few keys of an organization are fetched at a time; beyond, 429, and others are not', async () => {
  let resolve = (): void => undefined
  const answer = new Promise<void>((done) => (resolve = done))
  const f = await createFederation({
    outbound: createOutbound({
      allowLoopback: false,
      resolve: () => answer.then(() => Promise.reject(new Error('no names here'))),
    }),
  })
  const other = await f.remit.organization()
  const register = (i: number, key: string) =>
    f.remit.call('POST', '/v1/identity/idp', {
      key,
      body: {
        ...issuerInput(f.key),
        issuer: `https://a${i}.example.com`,
        audiences: [`https://gov.example/${i}`],
        jwks: { type: 'discovery' },
      },
    })
  const refused = Promise.withResolvers<void>()
  const own = Array.from({ length: 30 }, async (_, i) => {
    const { status } = await register(i, f.org.key)
    if (status === 429) refused.resolve()
    return status
  })
  await refused.promise
  const theirs = register(30, other.key)
  resolve()

  const statuses = await Promise.all(own)
  expect(statuses.filter((status) => status === 201)).toHaveLength(20)
  expect(statuses.filter((status) => status === 429)).toHaveLength(10)
  expect((await theirs).status).toBe(201)
  await f.remit.close()
})
