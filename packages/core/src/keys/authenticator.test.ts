import type { Plan } from '@remit/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKey, endKey, setPlan } from '../orgs/administration.ts'
import type { CredentialHolder } from './credentials.ts'
import { createClock, createTestRemit, DIALECTS } from '@remit/testing'
import type { TestClock, TestRemit } from '@remit/testing'
import { generateText, publicPart } from './key-text.ts'
import { Authenticator, reaches } from './authenticator.ts'

describe.each(DIALECTS)('Authenticator on %s', (dialect) => {
  let remit: TestRemit
  beforeAll(async () => {
    remit = await createTestRemit({ dialect })
  })
  afterAll(() => remit.close())

  const bearer = (key: string) => `Bearer ${key}`
  const started = (ceiling: Plan = 'enterprise') => new Authenticator(remit.db, ceiling)

  it('knows who calls: organization, plan, role and the person whom the key names', async () => {
    const { id } = await remit.organization('team')
    const key = await createKey(remit.writer, id, { role: 'approver', person: 'ada@example.org' })

    expect(await started().authenticate(bearer(key.secret))).toEqual({
      orgId: id,
      plan: 'team',
      principal: { type: 'key', id: key.id, role: 'approver', person: 'ada@example.org' },
      configVersion: 2,
    })
  })

  it.each([
    ['free', 'enterprise', 'free'],
    ['team', 'enterprise', 'team'],
    ['enterprise', 'team', 'team'],
    ['enterprise', 'free', 'free'],
    ['enterprise', 'enterprise', 'enterprise'],
  ] as const)(
    'an organization on %s under a license of %s has %s',
    async (plan, ceiling, expected) => {
      const { key } = await remit.organization(plan)

      expect((await started(ceiling).authenticate(bearer(key))).plan).toBe(expected)
    },
  )

  it('recalls who was there before, whatever has happened since; authenticating asks again', async () => {
    const { id, key } = await remit.organization()
    const authenticator = started()
    const unknown = authenticator.recall(bearer(key))
    const caller = await authenticator.authenticate(bearer(key))
    await endKey(remit.writer, id, `key_${key.slice(4, 20)}`)

    expect(unknown).toBeNull()
    expect(authenticator.recall(bearer(key))).toBe(caller)
    expect(authenticator.recall(`${bearer(key)}x`)).toBeNull()
    expect(authenticator.recall(undefined)).toBeNull()
    await expect(authenticator.authenticate(bearer(key))).rejects.toMatchObject({
      code: 'unauthorized',
    })
  })

  it('forgets a key as soon as it finds it gone', async () => {
    const { id, key } = await remit.organization()
    const authenticator = started()
    await authenticator.authenticate(bearer(key))
    await endKey(remit.writer, id, `key_${key.slice(4, 20)}`)
    await authenticator.authenticate(bearer(key)).catch(() => undefined)

    expect(authenticator.recall(bearer(key))).toBeNull()
  })

  describe('recheck', () => {
    it('believes callers of the same version and looks the others up', async () => {
      const { id, key } = await remit.organization('enterprise')
      const authenticator = started()
      const before = await authenticator.authenticate(bearer(key))
      await setPlan(remit.writer, id, 'team')

      const same = await authenticator.recheck(remit.db, [before], 1, 0)
      const later = await authenticator.recheck(remit.db, [before], 2, 0)

      expect(same.get(before.principal.id)).toBe(before)
      expect(later.get(before.principal.id)).toMatchObject({
        plan: 'team',
        configVersion: 2,
      })
    })

    it('finds a key without a ledger head: entries stay readable', async () => {
      const { id, key } = await remit.organization()
      const authenticator = started()
      const caller = await authenticator.authenticate(bearer(key))
      await remit.db.deleteFrom('ledger_head').where('org_id', '=', id).execute()

      const checked = await authenticator.recheck(remit.db, [caller], 2, 0)

      expect(await authenticator.authenticate(bearer(key))).toEqual({
        ...caller,
        configVersion: null,
      })
      expect([...checked.values()]).toEqual([{ ...caller, configVersion: null }])
    })

    it('finds null for a key that has ended', async () => {
      const { id, key } = await remit.organization()
      const authenticator = started()
      const caller = await authenticator.authenticate(bearer(key))
      await endKey(remit.writer, id, caller.principal.id)

      const checked = await authenticator.recheck(remit.db, [caller], 2, 0)

      expect(checked.get(caller.principal.id)).toBeNull()
    })
  })
})

describe('agent credentials in memory', () => {
  const text = generateText('rmc_')
  let remit: TestRemit
  let clock: TestClock
  let authenticator: Authenticator
  let asked = 0
  const used: string[] = []
  beforeAll(async () => {
    remit = await createTestRemit()
    clock = createClock()
    const { id: orgId } = await remit.organization()
    const holder: CredentialHolder = {
      id: `cred_${publicPart(text)}`,
      orgId,
      agentId: 'payer',
      scopes: ['authorize'],
      expiresAt: clock.now() + 1000,
      plan: 'enterprise',
      configVersion: 1,
    }
    const isLive = (now: number) => now < holder.expiresAt
    authenticator = new Authenticator(remit.db, 'team', clock)
    authenticator.use({
      authenticate: (given) => {
        asked++
        return Promise.resolve(given === text && isLive(clock.now()) ? holder : null)
      },
      find: (_tx, org, ids, now) =>
        Promise.resolve(org === orgId && ids.includes(holder.id) && isLive(now) ? [holder] : []),
      used: ({ id }) => void used.push(id),
    })
  })
  afterAll(() => remit.close())

  it('acts as its agent, with the lower plan; a use from memory is told and asks nobody', async () => {
    const first = await authenticator.authenticate(`Bearer ${text}`)
    const again = authenticator.recall(`Bearer ${text}`)

    expect(again).toBe(first)
    expect(first).toMatchObject({
      plan: 'team',
      principal: { type: 'credential', agentId: 'payer' },
    })
    expect([asked, used]).toEqual([1, [`cred_${publicPart(text)}`]])
  })

  it('is believed at the same version until its time is over, then nowhere', async () => {
    const caller = await authenticator.authenticate(`Bearer ${text}`)
    const at = async (now: number, version: number) =>
      (await authenticator.recheck(remit.db, [caller], version, now)).get(caller.principal.id)
    const end = clock.now() + 1000

    expect(await at(end - 1, 1)).toBe(caller)
    expect(await at(end, 1)).toBeNull()
    expect(await at(end - 1, 2)).toMatchObject({ principal: { type: 'credential' } })
    expect(await at(end, 2)).toBeNull()
    clock.advance(1000)
    expect(authenticator.recall(`Bearer ${text}`)).toBeNull()
    await expect(authenticator.authenticate(`Bearer ${text}`)).rejects.toMatchObject({
      code: 'unauthorized',
    })
  })
})

describe('reaches', () => {
  it('opens a tier to its plan and those above', () => {
    const opened = (plan: Plan) =>
      (['open', 'team', 'enterprise'] as const).filter((tier) => reaches(plan, tier))

    expect(opened('free')).toEqual(['open'])
    expect(opened('team')).toEqual(['open', 'team'])
    expect(opened('enterprise')).toEqual(['open', 'team', 'enterprise'])
  })
})
