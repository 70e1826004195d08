import { endKey, rotateKey, setPlan } from '@remit/core/orgs'
import { createTestRemit, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import governance from '../src/index.ts'
import { apiOf, createApi, refusalOf } from './support/api.ts'
import type { Api } from './support/api.ts'

const ask = { body: { agent_id: 'a', action: 'a.b' } }

// A change is made on one process and seen on the other; SQLite has one process only.
describe.each(someDialects())('keys and plans on %s', (dialect) => {
  let api: Api
  let other: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
    const { url, signingKey } = api.remit
    const second =
      dialect === 'postgres' && (await createTestRemit({ modules: [governance], url, signingKey }))
    other = second ? apiOf(second, api.org) : api
  })
  afterAll(async () => {
    if (other !== api) await other.remit.close()
    await api.remit.close()
  })

  /** An organization of its own, whose key both processes remember. */
  const known = async (plan: 'free' | 'team' | 'enterprise') => {
    const org = await api.remit.organization(plan)
    const here = { first: api.as(org), second: other.as(org), org }
    await here.first.call('authorize', ask)
    await here.second.call('authorize', ask)
    return here
  }

  it('a revoked key is refused on every process, by the same body as a key that never was', async () => {
    const { first, second, org } = await known('team')
    await endKey(api.remit.writer, org.id, `key_${org.key.slice(4, 20)}`)

    const never = await second.call('authorize', { ...ask, key: 'never' })
    const answers = [
      await second.call('authorize', ask),
      await first.call('authorize', ask),
      await second.call('listEntries'),
    ]

    const { request_id: _, ...expected } = await refusalOf(never)
    for (const answer of answers) {
      expect(answer.headers.get('www-authenticate')).toBe(
        'Bearer realm="remit", error="invalid_token"',
      )
      const { request_id: __, ...problem } = await refusalOf(answer)
      expect(problem).toEqual(expected)
    }
  })

  it('a rotated key ends as its successor begins', async () => {
    const { second, org } = await known('team')

    const { secret } = await rotateKey(api.remit.writer, org.id, `key_${org.key.slice(4, 20)}`)

    expect((await second.refusal('authorize', ask)).code).toBe('unauthorized')
    expect(await second.ok('authorize', { ...ask, key: secret })).toMatchObject({
      decision: 'allow',
    })
  })

  it('a higher plan opens at once', async () => {
    const { first, second, org } = await known('free')
    expect((await second.refusal('authorize', ask)).code).toBe('plan_required')

    await setPlan(api.remit.writer, org.id, 'team')

    expect(await second.ok('authorize', ask)).toMatchObject({ decision: 'allow' })
    expect(await first.ok('authorize', ask)).toMatchObject({ decision: 'allow' })
  })

  it('a lower plan that still suffices goes on without an interruption', async () => {
    const { first, second, org } = await known('enterprise')

    await setPlan(api.remit.writer, org.id, 'team')

    expect(await second.ok('authorize', ask)).toMatchObject({ decision: 'allow' })
    const { ledger } = await first.ok('authorize', ask)
    const entry = await first.ok('getEntry', { params: { seq: ledger.seq } })
    expect(entry.data).toMatchObject({ plan: 'team' })
  })

  it('an insufficient plan refuses immediately, with the reason', async () => {
    const { first, second, org } = await known('team')
    const { head } = await first.ok('listEntries')

    await setPlan(api.remit.writer, org.id, 'free')

    expect((await second.refusal('authorize', ask)).code).toBe('plan_required')
    expect((await first.refusal('authorize', ask)).code).toBe('plan_required')
    expect((await api.remit.ledger.head(org.id)).size).toBe(head.seq + 2)
  })
})
