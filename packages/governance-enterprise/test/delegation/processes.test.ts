import { createTestRemit, inFullRun, runs } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import governance from '../../src/index.ts'
import { apiOf, createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const isRun = inFullRun('delegation in two processes')

const ROUNDS = runs(15, 5)
const AGENTS = ['planner', 'buyer', 'payer']

describe.skipIf(!isRun).each([
  ['one process on sqlite', 'sqlite'],
  ['two processes on postgres', 'postgres'],
] as const)('a change of permissions rules the next decision everywhere: %s', (_, dialect) => {
  let here: Api
  let there: Api
  beforeAll(async () => {
    here = await createApi({ dialect })
    const { url, signingKey } = here.remit
    there =
      dialect === 'sqlite'
        ? here
        : apiOf(await createTestRemit({ modules: [governance], url, signingKey }), here.org)
  })
  afterAll(async () => {
    if (there !== here) await there.remit.close()
    await here.remit.close()
  })

  const grant = (api: Api, id: string, body: object) =>
    api.ok('grantPermission', { params: { id }, body })
  const reasonsOf = (api: Api) =>
    Promise.all(
      AGENTS.map(
        async (agent_id) =>
          (await api.ok('authorize', { body: { agent_id, action: 'a.b' } })).reason,
      ),
    )
  const all = (reason: string) => AGENTS.map(() => reason)

  /** planner → buyer → payer; the ids are new each round, since those of revoked ones stay taken. */
  async function chain(round: number): Promise<void> {
    await grant(here, `top-${round}`, { agent_id: 'planner', can_delegate: true, max_depth: 2 })
    await grant(there, `mid-${round}`, {
      agent_id: 'buyer',
      parent_id: `top-${round}`,
      can_delegate: true,
    })
    await grant(here, `low-${round}`, { agent_id: 'payer', parent_id: `mid-${round}` })
  }

  it('revoking a parent ends the whole chain', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await chain(round)
      expect(await reasonsOf(there)).toEqual(all('permission_grant'))
      await here.ok('revokePermission', { params: { id: `top-${round}` } })
      expect(await reasonsOf(there)).toEqual(all('no_permission'))
      expect(await reasonsOf(here)).toEqual(all('no_permission'))
    }
  })

  it('narrowing a parent narrows the whole chain, and widening it widens it', async () => {
    const top = { agent_id: 'planner', can_delegate: true, max_depth: 2 }
    await chain(1_000)
    for (let round = 0; round < ROUNDS; round++) {
      await there.ok('grantPermission', {
        params: { id: 'top-1000' },
        body: { ...top, actions: ['x'] },
      })
      expect(await reasonsOf(here)).toEqual(all('no_permission'))
      await here.ok('grantPermission', { params: { id: 'top-1000' }, body: top })
      expect(await reasonsOf(there)).toEqual(all('permission_grant'))
    }
    await here.ok('revokePermission', { params: { id: 'top-1000' } })
  })

  it('a deny and its end', async () => {
    await chain(2_000)
    for (let round = 0; round < ROUNDS; round++) {
      const id = `deny-${round}`
      await grant(here, id, { agent_id: 'plan*', effect: 'deny' })
      expect(await reasonsOf(there)).toEqual(['agent_denied', 'no_permission', 'no_permission'])
      await there.ok('revokePermission', { params: { id } })
      expect(await reasonsOf(here)).toEqual(all('permission_grant'))
    }
  })

  it('the mode of an agent', async () => {
    const params = { agent_id: 'other' }
    const body = { agent_id: 'other', action: 'a.b' }
    for (let round = 0; round < ROUNDS; round++) {
      await here.ok('setAgentMode', { params, body: { mode: 'granted' } })
      expect((await there.ok('authorize', { body })).reason).toBe('no_permission')
      await there.ok('setAgentMode', { params, body: { mode: 'open' } })
      expect((await here.ok('authorize', { body })).reason).toBe('default_allow')
    }
  })

  it('also while the other process is busy deciding', async () => {
    await chain(3_000)
    const over = new AbortController()
    const busy = (async () => {
      const seen = new Set<string>()
      while (!over.signal.aborted) for (const reason of await reasonsOf(there)) seen.add(reason)
      return seen
    })()
    for (let round = 0; round < ROUNDS; round++) {
      await here.ok('setAgentMode', { params: { agent_id: 'x' }, body: { mode: 'open' } })
      await here.remit.ports.agentSwitch?.suspend(here.org.id, 'planner', 'test')
      const denied = await Promise.all([reasonsOf(there), reasonsOf(here)])
      expect(denied.flat()).not.toContain('permission_grant')
      await there.remit.ports.agentSwitch?.resume(here.org.id, 'planner')
      const allowed = await Promise.all([reasonsOf(there), reasonsOf(here)])
      expect(new Set(allowed.flat())).toEqual(new Set(['permission_grant']))
    }
    over.abort()

    expect([...(await busy)].toSorted()).toEqual(
      expect.arrayContaining(['agent_suspended', 'no_permission', 'permission_grant']),
    )
  })
})
