import { createTestRemit, fullDialects } from '@remit/testing'
import { describe, expect, it } from 'vitest'
import identity from '../../src/index.ts'
import { BASE_URL, createFederation, federationOf } from '../support/federation.ts'
import type { Federation } from '../support/federation.ts'
import { part } from '../support/tokens.ts'

const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** The other ECDSA signature that is as good: (r, n − s). */
function mirrored(token: string): string {
  const [header, payload, signature = ''] = token.split('.')
  const bytes = Buffer.from(signature, 'base64url')
  const s = ORDER - BigInt(`0x${bytes.subarray(32).toString('hex')}`)
  const other = Buffer.from(s.toString(16).padStart(64, '0'), 'hex')
  return `${header}.${payload}.${part(Buffer.concat([bytes.subarray(0, 32), other]))}`
}

const reasons = async (f: Federation) =>
  (await f.entries('token.refused')).map(({ reason }) => reason)

for (const dialect of fullDialects()) {
  describe(`a token that was exchanged, on ${dialect}`, () => {
    it('is not exchanged again: not at once by 20 callers, and not in another spelling', async () => {
      const f = await createFederation({ dialect })
      await f.agent('agent-a')
      const token = f.token()
      const answers = await Promise.all(Array.from({ length: 20 }, () => f.exchange(token)))
      const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
      expect(statuses).toEqual([200, ...Array<number>(19).fill(400)])
      expect(new Set(await reasons(f))).toEqual(new Set(['jti_reused']))
      expect(await f.entries('token.refused')).toHaveLength(19)
      expect(await f.entries('token.exchanged')).toHaveLength(1)
      expect((await f.exchange(mirrored(token))).status).toBe(400)
      f.clock.advance(200_000)
      expect((await f.exchange(token)).status).toBe(400)
      await f.remit.close()
    })

    it('is known by its text where its issuer gives it no name', async () => {
      const f = await createFederation({ dialect, issuer: { require_jti: false } })
      await f.agent('agent-a')
      const token = f.token({ jti: undefined })
      await f.exchanged(token)
      expect((await f.exchange(token)).status).toBe(400)
      expect((await f.exchange(mirrored(token))).status).toBe(400)
      f.clock.advance(1000)
      await f.exchanged(f.token({ jti: undefined }))
      await f.remit.close()
    })

    it('may be used again where the record says so, once a minute for a subject', async () => {
      const f = await createFederation({ dialect, issuer: { replay: 'until_exp' } })
      await f.agent('agent-a')
      const token = f.token()
      await f.exchanged(token)
      const soon = await f.exchange(token)
      expect(soon.status).toBe(429)
      expect(soon.headers.get('retry-after')).toBe('60')
      await f.exchanged(f.token({ sub: 'workload-2' }))
      f.clock.advance(60_000)
      await f.exchanged(token)
      await f.remit.close()
    })
  })
}

it('is exchanged once by two processes on one database', async () => {
  const first = await createFederation({ dialect: 'postgres' })
  await first.agent('agent-a')
  const { clock, org, key, idp } = first
  const remit = await createTestRemit({
    modules: [identity],
    url: first.remit.url,
    signingKey: first.remit.signingKey,
    clock,
    settings: { baseUrl: BASE_URL },
  })
  const second = federationOf(remit, clock, org, key, idp)
  for (let round = 0; round < 5; round++) {
    const token = first.token()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? first : second).exchange(token)),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  }
  // The memory of one process about an issuer ends with the other's removal of it.
  await remit.call('DELETE', `/v1/identity/idp/${idp}`, { key: org.key })
  expect((await first.exchange(first.token())).status).toBe(400)
  await remit.close()
  await first.remit.close()
})

it('is refused once for each try, but beyond 60 a minute only counted', async () => {
  const f = await createFederation()
  for (let i = 0; i < 75; i++) {
    f.clock.advance(100)
    expect((await f.exchange(f.token({ sub: '' }))).status).toBe(400)
  }
  expect(await f.entries('token.refused')).toHaveLength(60)
  f.clock.advance(60_000)
  await f.exchange(f.token({ sub: '' }))
  const [last, counted] = await f.entries('token.refused')
  expect(last?.reason).toBe('sub')
  expect(counted).toMatchObject({ reason: 'too_many', data: { idp_id: f.idp, count: 15 } })
  await f.remit.close()
})

it('is one of 50 a second for an issuer', async () => {
  const f = await createFederation()
  const statuses: number[] = []
  for (let i = 0; i < 52; i++) statuses.push((await f.exchange(f.token({ env: 'x' }))).status)
  expect(statuses.filter((status) => status === 429)).toHaveLength(2)
  f.clock.advance(1000)
  expect((await f.exchange(f.token({ env: 'x' }))).status).toBe(400)
  await f.remit.close()
})
