import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'

describe.each(someDialects())('the mode of an agent on %s', (dialect) => {
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock(NOW)
    api = await createApi({ dialect, clock })
  })
  afterAll(() => api.remit.close())

  const grant = (id: string, body: object) => api.ok('grantPermission', { params: { id }, body })
  const setMode = (agent_id: string, mode: string) =>
    api.ok('setAgentMode', { params: { agent_id }, body: { mode } })
  const modeOf = async (agent_id: string) =>
    (await api.ok('getEffectivePermissions', { query: { agent_id } })).mode
  const reasonOf = async (agent_id: string) =>
    (await api.ok('authorize', { body: { agent_id, action: 'a.b' } })).reason

  it('is open until the first grant; a deny does not change it', async () => {
    await grant('first-deny', { agent_id: 'new', effect: 'deny', actions: ['x'] })
    expect([await modeOf('new'), await reasonOf('new')]).toEqual(['open', 'default_allow'])

    await grant('first-grant', { agent_id: 'new', actions: ['a.c'] })

    expect([await modeOf('new'), await reasonOf('new')]).toEqual(['granted', 'no_permission'])
  })

  it('stays granted when the last grant is revoked', async () => {
    await grant('revoked', { agent_id: 'sticky' })
    expect(await reasonOf('sticky')).toBe('permission_grant')

    await api.ok('revokePermission', { params: { id: 'revoked' } })

    expect([await modeOf('sticky'), await reasonOf('sticky')]).toEqual(['granted', 'no_permission'])
  })

  it('stays granted when the last grant ends, to the millisecond', async () => {
    await grant('ends', { agent_id: 'timed', expires_at: '2026-11-20T09:00:00Z' })
    clock.set('2026-11-20T08:59:59.999Z')
    expect(await reasonOf('timed')).toBe('permission_grant')

    clock.set('2026-11-20T09:00:00.000Z')

    expect([await modeOf('timed'), await reasonOf('timed')]).toEqual(['granted', 'no_permission'])
  })

  it('counts a grant from its beginning, to the millisecond', async () => {
    await grant('begins', { agent_id: 'early', not_before: '2026-11-20T10:00:00Z' })
    clock.set('2026-11-20T09:59:59.999Z')
    expect(await reasonOf('early')).toBe('no_permission')

    clock.set('2026-11-20T10:00:00.000Z')

    expect(await reasonOf('early')).toBe('permission_grant')
  })

  it('stays granted when its only grant becomes a deny', async () => {
    await grant('turned', { agent_id: 'turncoat' })
    await grant('turned', { agent_id: 'turncoat', effect: 'deny', actions: ['x'] })

    expect(await reasonOf('turncoat')).toBe('no_permission')
  })

  describe('POST /v1/delegation/agents/{agent_id}/mode', () => {
    it('200 reopens an agent, with an entry; its next grant closes it again', async () => {
      await grant('old', { agent_id: 'reopened', actions: ['x'] })
      expect(await reasonOf('reopened')).toBe('no_permission')

      const { ledger, ...answer } = await setMode('reopened', 'open')

      expect(answer).toEqual({ agent_id: 'reopened', mode: 'open' })
      expect(await reasonOf('reopened')).toBe('default_allow')
      expect(await api.ok('getEntry', { params: { seq: ledger.seq } })).toMatchObject({
        kind: 'agent_mode.set',
        agent_id: 'reopened',
        actor: { type: 'key' },
        data: { agent_id: 'reopened', mode: 'open' },
      })
      await grant('again', { agent_id: 'reopened', actions: ['y'] })
      expect(await reasonOf('reopened')).toBe('no_permission')
    })

    it('200 closes an agent that never had a grant', async () => {
      await setMode('locked', 'granted')

      expect(await reasonOf('locked')).toBe('no_permission')
    })

    it('200 for an agent whose name needs escaping in a path', async () => {
      for (const name of ['team/payer', 'größe 1', 'a?b#c%2F']) {
        expect(await setMode(name, 'granted')).toMatchObject({ agent_id: name })
        expect(await reasonOf(name)).toBe('no_permission')
      }
    })

    it.each([
      [{ mode: 'closed' }, 'mode'],
      [{}, 'mode'],
      [{ mode: 'open', agent_id: 'x' }, 'agent_id'],
    ])('400 for %j', async (body, path) => {
      const params = { agent_id: 'payer' }
      const problem = await api.refusal('setAgentMode', { params, body })

      expect(problem.errors?.map((error) => error.path)).toEqual([path])
    })

    it('400 for a pattern of agents', async () => {
      const options = { params: { agent_id: 'pay*' }, body: { mode: 'open' } }

      expect((await api.refusal('setAgentMode', options)).code).toBe('invalid_request')
    })

    it('403 for every role but admin', async () => {
      for (const role of ['ingest', 'approver', 'read'] as const) {
        const key = await api.remit.key(api.org.id, role)
        const options = { params: { agent_id: 'payer' }, body: { mode: 'open' }, key }
        expect((await api.refusal('setAgentMode', options)).code).toBe('role_required')
      }
    })
  })
})
