import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestRemit, DIALECTS } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import type { IdempotencyClaim } from './claim.ts'
import { findAnswer, forgetAnswers, keepAnswer } from './store.ts'

const NOW = Date.parse('2026-11-20T08:00:00.000Z')
const DAY = 24 * 60 * 60 * 1000
const claim = (key: string, requestHash = 'a'): IdempotencyClaim => ({
  key,
  requestHash,
  encode: () => answer(),
})
const answer = (body = '{}') => ({ status: 201, headers: { Location: '/x' }, body })

describe.each(DIALECTS)('kept answers on %s', (dialect) => {
  let remit: TestRemit
  beforeAll(async () => {
    remit = await createTestRemit({ dialect })
  })
  afterAll(() => remit.close())

  it('come back as they were kept', async () => {
    const kept = answer('{"text":"ünï \\u0000 💥"}')
    await keepAnswer(remit.db, 'org_1', claim('same'), kept, NOW)

    expect(await findAnswer(remit.db, 'org_1', claim('same'), NOW)).toEqual(kept)
    expect(await findAnswer(remit.db, 'org_2', claim('same'), NOW)).toBeNull()
    expect(await findAnswer(remit.db, 'org_1', claim('Same'), NOW)).toBeNull()
  })

  it('belong to one request', async () => {
    await keepAnswer(remit.db, 'org_1', claim('one'), answer(), NOW)

    await expect(findAnswer(remit.db, 'org_1', claim('one', 'b'), NOW)).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    })
  })

  it('end after 24 hours, to the millisecond, and make room', async () => {
    await keepAnswer(remit.db, 'org_1', claim('old'), answer('1'), NOW)

    expect(await findAnswer(remit.db, 'org_1', claim('old'), NOW + DAY - 1)).toMatchObject({
      body: '1',
    })
    expect(await findAnswer(remit.db, 'org_1', claim('old', 'b'), NOW + DAY)).toBeNull()
    await keepAnswer(remit.db, 'org_1', claim('old', 'b'), answer('2'), NOW + DAY)
    expect(await findAnswer(remit.db, 'org_1', claim('old', 'b'), NOW + DAY)).toMatchObject({
      body: '2',
    })
  })

  it('are forgotten once nobody can ask for them any more', async () => {
    await keepAnswer(remit.db, 'org_9', claim('x'), answer(), NOW + 10 * DAY)
    await keepAnswer(remit.db, 'org_9', claim('y'), answer(), NOW + 10 * DAY + 1)

    await forgetAnswers(remit.db, 'org_9', NOW + 11 * DAY)

    const left = await remit.db
      .selectFrom('idempotency_key')
      .select('key')
      .where('org_id', '=', 'org_9')
      .execute()
    expect(left).toEqual([{ key: 'y' }])
    expect(await forgetAnswers(remit.db, 'org_9', NOW + 11 * DAY)).toBe(0)
  })

  it('are deleted by a server that starts after they have expired', async () => {
    const now = Date.now()
    const { id } = await remit.organization()
    await keepAnswer(remit.db, id, claim('expired'), answer(), now - DAY)
    await keepAnswer(remit.db, id, claim('kept'), answer(), now)

    const next = await createTestRemit({ url: remit.url, signingKey: remit.signingKey })

    const left = remit.db.selectFrom('idempotency_key').select('key').where('org_id', '=', id)
    await expect.poll(() => left.execute(), { timeout: 10_000 }).toEqual([{ key: 'kept' }])
    await next.close()
  })
})
