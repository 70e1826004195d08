import { setSettings } from '@remit/core/orgs'
import { readOrganization } from '@remit/core/orgs/settings'
import { someDialects } from '@remit/testing'
import { CompiledQuery } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { policyStage } from '../src/policies/stage.ts'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

describe.each(someDialects())('the policy stage on %s', (dialect) => {
  let root: Api
  beforeAll(async () => {
    root = await createApi({ dialect })
  })
  afterAll(() => root.remit.close())

  const anew = async () => root.as(await root.remit.organization())
  const request = { agent_id: 'payer', action: 'payments.transfer' }

  describe('in a preview', () => {
    const preview = async (api: Api, add: readonly unknown[], remove: readonly string[] = []) => {
      const overlay = { add, remove }
      const [one] = await root.remit.decider.preview(api.org.id, 'enterprise', [request], {
        overlay,
      })
      return one
    }

    it('rules can be added and left out, and stay as they are', async () => {
      const api = await anew()
      const { id } = await api.ok('createPolicy', { body: { effect: 'deny' } })

      expect(await preview(api, [])).toMatchObject({ decision: 'deny', matched: [{ id }] })
      expect(await preview(api, [], [id])).toMatchObject({
        decision: 'allow',
        reason: 'default_allow',
      })
      expect(
        await preview(api, [{ effect: 'allow', enabled: false }, { effect: 'allow' }], [id]),
      ).toMatchObject({ reason: 'policy_allow', matched: [{ kind: 'policy', id: 'overlay.1' }] })
      expect((await api.ok('authorize', { body: request })).decision).toBe('deny')
    })

    it.each([
      [{}, 'overlay.add.0.effect'],
      [{ effect: 'deny', condtion: 'true' }, 'overlay.add.0.condtion'],
      [{ effect: 'deny', actions: [] }, 'overlay.add.0.actions'],
      [{ effect: 'deny', condition: 'contxt.a' }, 'overlay.add.0.condition'],
    ])('the rule %j is refused with the path of its fault', async (rule, path) => {
      await expect(preview(root, [rule])).rejects.toMatchObject({
        code: 'invalid_request',
        extras: { errors: [{ path }] },
      })
    })
  })

  describe('its snapshot', () => {
    it('is made again only when a rule has come or gone', async () => {
      const api = await anew()
      const stage = policyStage()
      const load = () =>
        root.remit.db.transaction().execute(async (tx) => {
          const organization = await readOrganization(tx, api.org.id)
          return stage.load({ orgId: api.org.id, tx, organization })
        })
      const { id } = await api.ok('createPolicy', { body: { effect: 'deny' } })
      const first = await load()

      await api.ok('setSpendLimit', { params: { id: 'x' }, body: { daily_usd: 1 } })
      await setSettings(root.remit.writer, api.org.id, { default_effect: 'deny' })
      const second = await load()
      await api.ok('createPolicy', { body: { effect: 'allow' } })
      const third = await load()
      await api.ok('deletePolicy', { params: { policyID: id } })
      const fourth = await load()

      expect(second.index).toBe(first.index)
      expect(
        [first, second, third, fourth].map(({ defaultEffect, rules }) => [
          defaultEffect,
          rules.length,
        ]),
      ).toEqual([
        ['allow', 1],
        ['deny', 1],
        ['deny', 2],
        ['deny', 1],
      ])
    })
  })

  it('denies with policy_error where its table cannot be read, and is back when it can', async () => {
    const api = await anew()
    const rename = (from: string, to: string) =>
      root.remit.db.executeQuery(CompiledQuery.raw(`alter table ${from} rename to ${to}`))
    await rename('policy_rule', 'away')

    const denied = await api.ok('authorize', { body: request })
    await rename('away', 'policy_rule')

    expect(denied).toMatchObject({ decision: 'deny', reason: 'policy_error' })
    expect((await api.ok('authorize', { body: request })).decision).toBe('allow')
  })

  it('denies by a stored condition that no longer compiles', async () => {
    const api = await anew()
    const { id } = await api.ok('createPolicy', { body: { effect: 'deny', condition: 'false' } })
    await root.remit.db.executeQuery(
      CompiledQuery.raw(`update policy_rule set condition = 'gone()' where id = '${id}'`),
    )

    expect(await api.ok('authorize', { body: request })).toMatchObject({
      decision: 'deny',
      reason: 'policy_error',
      matched: [{ kind: 'policy', id }],
    })
  })
})
