import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'

describe.each(someDialects())(
  'refusals of POST /v1/delegation/permissions/{id}, on %s',
  (dialect) => {
    let api: Api
    beforeAll(async () => {
      api = await createApi({ dialect, clock: createClock(NOW) })
      await grant('root', {
        agent_id: 'planner',
        actions: ['payments.*'],
        resources: ['account:*'],
        can_delegate: true,
        max_depth: 2,
        expires_at: '2026-12-01T00:00:00Z',
      })
    })
    afterAll(() => api.remit.close())

    const grant = (id: string, body: object) => api.ok('grantPermission', { params: { id }, body })
    const refused = (id: string, body: object) =>
      api.refusal('grantPermission', { params: { id }, body })
    const within = { parent_id: 'root', actions: ['payments.transfer'], resources: ['account:42'] }

    describe('400', () => {
      const agent_id = 'payer'
      it.each([
        ['no agent', {}, 'agent_id'],
        ['an empty agent', { agent_id: '' }, 'agent_id'],
        ['an allow of agents by a pattern', { agent_id: 'pay*' }, 'agent_id'],
        ['another effect', { agent_id, effect: 'maybe' }, 'effect'],
        ['an empty list of actions', { agent_id, actions: [] }, 'actions'],
        ['an empty list of resources', { agent_id, resources: [] }, 'resources'],
        ['an invisible character', { agent_id, actions: ['payments\u200b.*'] }, 'actions.0'],
        ['a misspelt field', { agent_id, condtion: 'true' }, 'condtion'],
        ['a condition that is not CEL', { agent_id, condition: 'context.amount >' }, 'condition'],
        ['a condition that gives a number', { agent_id, condition: '1 + 1' }, 'condition'],
        ['a negative depth', { agent_id, max_depth: -1 }, 'max_depth'],
        ['a depth beyond 8', { agent_id, max_depth: 9 }, 'max_depth'],
        ['a window that ends first', { agent_id, not_before: NOW, expires_at: NOW }, 'expires_at'],
        ['a time without a zone', { agent_id, expires_at: '2026-12-01T00:00:00' }, 'expires_at'],
        [
          'a granting robot',
          { agent_id, granted_by: { type: 'robot', id: 'x' } },
          'granted_by.type',
        ],
        ['a granter without id', { agent_id, granted_by: { type: 'user' } }, 'granted_by.id'],
        [
          'an agent that grants from nothing',
          { agent_id, granted_by: { type: 'agent', id: 'x' } },
          'parent_id',
        ],
        [
          'a user that passes on',
          { agent_id, ...within, granted_by: { type: 'user', id: 'a' } },
          'granted_by.type',
        ],
        ['a deny with a parent', { agent_id, effect: 'deny', parent_id: 'root' }, 'parent_id'],
        ['a deny to pass on', { agent_id, effect: 'deny', can_delegate: true }, 'can_delegate'],
        ['a deny with depth', { agent_id, effect: 'deny', max_depth: 1 }, 'max_depth'],
        ['a parent that is no id', { agent_id, parent_id: '../x' }, 'parent_id'],
      ])('%s', async (_, body, path) => {
        const problem = await refused('bad', body)

        expect(problem.code).toBe('invalid_request')
        expect(problem.errors?.map((error) => error.path)).toContain(path)
      })

      it('the id of the path', async () => {
        const problem = await refused('a b', { agent_id })

        expect(problem.errors?.map((error) => error.path)).toEqual(['id'])
      })
    })

    describe('403', () => {
      it('for every role but admin', async () => {
        for (const role of ['ingest', 'approver', 'read'] as const) {
          const key = await api.remit.key(api.org.id, role)
          const params = { id: 'x' }
          const problem = await api.refusal('grantPermission', {
            params,
            key,
            body: { agent_id: 'a' },
          })
          expect(problem.code).toBe('role_required')
        }
      })

      it('below the enterprise plan', async () => {
        const team = api.as(await api.remit.organization('team'))

        const problem = await team.refusal('grantPermission', {
          params: { id: 'x' },
          body: { agent_id: 'a' },
        })

        expect(problem).toMatchObject({ code: 'plan_required', required_plan: 'enterprise' })
      })
    })

    describe('409', () => {
      it('for an agent that is in the chain already', async () => {
        const body = { parent_id: 'root', actions: ['payments.x'], resources: ['account:1'] }
        await grant('to-teller', { agent_id: 'teller', ...body, can_delegate: true })

        expect((await refused('self', { agent_id: 'planner', ...body })).code).toBe(
          'agent_in_chain',
        )
        const back = { agent_id: 'planner', ...body, parent_id: 'to-teller' }
        expect((await refused('back', back)).code).toBe('agent_in_chain')
      })

      it('for another parent in a replacement, or none', async () => {
        await grant('kept', { agent_id: 'payer', ...within })
        await grant('other-root', { agent_id: 'planner', can_delegate: true, max_depth: 1 })

        const moved = await refused('kept', {
          agent_id: 'payer',
          ...within,
          parent_id: 'other-root',
        })
        const freed = await refused('kept', { agent_id: 'payer' })
        const cut = await refused('other-root', { agent_id: 'payer', ...within })

        expect([moved.code, freed.code, cut.code]).toEqual(Array(3).fill('permission_parent_fixed'))
        expect((await api.ok('getPermission', { params: { id: 'kept' } })).parent_id).toBe('root')
      })

      it('for the id of a revoked permission', async () => {
        await grant('over', { agent_id: 'payer' })
        await api.ok('revokePermission', { params: { id: 'over' } })

        const problem = await refused('over', { agent_id: 'payer' })

        expect(problem.code).toBe('permission_revoked')
      })
    })

    describe('422', () => {
      const agent_id = 'payer'
      it.each([
        ['an action outside', { ...within, actions: ['mail.send'] }, 'actions.0'],
        ['every action', { ...within, actions: undefined }, 'actions.0'],
        ['a resource outside', { ...within, resources: ['account:1', 'file:1'] }, 'resources.1'],
        ['a later end', { ...within, expires_at: '2026-12-01T00:00:00.001Z' }, 'expires_at'],
        ['a deeper chain', { ...within, can_delegate: true, max_depth: 2 }, 'max_depth'],
      ])('permission_too_wide: %s', async (_, body, path) => {
        const problem = await refused('wide', { agent_id, ...body })

        expect(problem.code).toBe('permission_too_wide')
        expect(problem.errors?.map((error) => error.path)).toEqual([path])
      })

      it('permission_too_wide: past the depth of the root', async () => {
        await grant('flat', { agent_id: 'planner', can_delegate: true })

        const problem = await refused('below', { agent_id, parent_id: 'flat' })

        expect(problem).toMatchObject({
          code: 'permission_too_wide',
          errors: [{ path: 'parent_id' }],
        })
      })

      it('permission_parent_unusable: unknown, foreign, a deny, dead, or not to be passed on', async () => {
        const other = api.as(await api.remit.organization())
        await other.ok('grantPermission', {
          params: { id: 'foreign' },
          body: { agent_id: 'planner', can_delegate: true, max_depth: 1 },
        })
        await grant('no', { agent_id: 'planner', effect: 'deny', actions: ['x'] })
        await grant('private', { agent_id: 'planner', max_depth: 1 })
        const open = { agent_id: 'planner', can_delegate: true, max_depth: 1 }
        await grant('ended', { ...open, expires_at: NOW })
        await grant('to-come', { ...open, not_before: '2026-11-20T09:00:00Z' })
        await grant('revoked', open)
        await api.ok('revokePermission', { params: { id: 'revoked' } })

        const details = []
        for (const parent_id of [
          'unknown',
          'foreign',
          'no',
          'private',
          'ended',
          'to-come',
          'revoked',
        ]) {
          const { code, errors } = await refused('orphan', { agent_id, parent_id })
          details.push(`${code} ${errors?.map((error) => `${error.path} ${error.message}`).join()}`)
        }

        expect(details).toEqual(
          [
            'is not a permission of the organization',
            'is not a permission of the organization',
            'is a deny permission',
            'cannot be delegated: can_delegate is false',
            'is not in force: ended is expired',
            'is not in force: to-come is not_yet_valid',
            'is not in force: revoked is revoked',
          ].map((message) => `permission_parent_unusable parent_id ${message}`),
        )
      })

      it('permission_parent_unusable: granted by another agent than the holder', async () => {
        const problem = await refused('stolen', {
          agent_id,
          ...within,
          granted_by: { type: 'agent', id: 'thief' },
        })

        expect(problem).toMatchObject({
          code: 'permission_parent_unusable',
          errors: [{ path: 'granted_by.id', message: 'must be planner, the holder of root' }],
        })
      })

      it('permission_parent_unusable: its holder is suspended', async () => {
        await grant('stopped', { agent_id: 'sleeper', can_delegate: true, max_depth: 1 })
        await api.remit.ports.agentSwitch?.suspend(api.org.id, 'sleeper', 'test')

        const problem = await refused('x', { agent_id, parent_id: 'stopped' })

        expect(problem.detail).toBe('parent_id is not in force: stopped is suspended')
      })
    })

    it('leaves nothing behind when it refuses', async () => {
      const { head } = await api.ok('listEntries', { query: { limit: 1 } })

      await refused('nothing', { agent_id: 'fresh', parent_id: 'unknown' })

      expect((await api.ok('listEntries', { query: { limit: 1 } })).head).toEqual(head)
      expect((await api.refusal('getPermission', { params: { id: 'nothing' } })).code).toBe(
        'permission_not_found',
      )
      expect(
        await api.ok('getEffectivePermissions', { query: { agent_id: 'fresh' } }),
      ).toMatchObject({ mode: 'open' })
    })
  },
)
