import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { setSettings, suspendOrganization } from '../../src/orgs/administration.ts'
import { createClock, createTestRemit, someDialects } from '@remit/testing'
import type { TestClock, TestRemit, TestRemitOptions } from '@remit/testing'
import { standIn } from './support.ts'

const NOTHING_DENIES = 'every action that no rule denies is allowed'

describe.each(someDialects())('the warnings of /ready about open defaults on %s', (dialect) => {
  let clock: TestClock
  let remit: TestRemit
  const open = async (options: TestRemitOptions = {}) => {
    clock = createClock()
    remit = await createTestRemit({ dialect, clock, modules: [standIn], ...options })
  }
  beforeEach(() => open())
  afterEach(() => remit.close())

  const warnings = async (): Promise<string[]> => {
    const response = await remit.call('GET', '/ready')
    expect(response.status).toBe(200)
    return ((await response.json()) as { warnings: string[] }).warnings
  }
  const deny = (orgId: string, ...names: string[]) =>
    setSettings(remit.writer, orgId, Object.fromEntries(names.map((name) => [name, 'deny'])))

  it('say what one organization allows and how to deny it', async () => {
    await remit.organization()

    expect(await warnings()).toEqual([
      `default_effect is allow: ${NOTHING_DENIES}. To deny, send PATCH /v1/organization with {"settings":{"default_effect":"deny"}}.`,
      'unknown_agents is allow: agents that are not registered may act. To deny, send PATCH /v1/organization with {"settings":{"unknown_agents":"deny"}}.',
    ])
  })

  it('are read again after a minute, and not before', async () => {
    const { id } = await remit.organization()
    expect(await warnings()).toHaveLength(2)
    await deny(id, 'default_effect', 'unknown_agents')

    clock.advance(59_999)
    expect(await warnings()).toHaveLength(2)
    clock.advance(1)
    expect(await warnings()).toEqual([])
  })

  it('count several organizations and name none', async () => {
    const ids = []
    for (let n = 0; n < 3; n++) ids.push((await remit.organization()).id)
    await deny(ids[0] ?? '', 'default_effect', 'unknown_agents')
    await deny(ids[1] ?? '', 'unknown_agents')

    const told = (await warnings()).map((text) => text.split(':')[0])

    expect(told).toEqual([
      'default_effect is allow in 2 of 3 organizations',
      'unknown_agents is allow in 1 of 3 organizations',
    ])
  })

  it('leave out organizations that decide nothing by rules', async () => {
    await remit.organization('team')
    await suspendOrganization(remit.writer, (await remit.organization()).id)

    expect(await warnings()).toEqual([])
  })

  it('read 100 organizations at most', async () => {
    const { id } = await remit.organization()
    const row = await remit.db
      .selectFrom('organization')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const more = Array.from({ length: 120 }, (_, n) => {
      const name = `org_zz${String(n).padStart(3, '0')}`
      return { ...row, id: name, name }
    })
    await remit.db.insertInto('organization').values(more).execute()

    expect((await warnings())[0]).toMatch(/^default_effect is allow in 100 of the first 100 org/)
  })
})

describe('/ready has no warnings about open defaults', () => {
  it.each([
    ['without modules, which decide', {}],
    ['below the plan that has rules', { modules: [standIn], planCeiling: 'team' as const }],
    ['for the customers of a hosted server', { modules: [standIn], hosted: true }],
  ])('%s', async (_, options) => {
    const remit = await createTestRemit(options)
    await remit.organization()

    expect(await (await remit.call('GET', '/ready')).json()).toMatchObject({ warnings: [] })
    await remit.close()
  })
})
