import { createKey } from '@remit/core/orgs'
import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'
const DEFAULTS = {
  default_effect: 'allow',
  unknown_agents: 'allow',
  four_eyes: false,
  rule_changes: 'direct',
  require_separate_keys: false,
  require_agent_credentials: false,
  credentials_per_agent: 10,
  keyless_exchange: false,
  consequential_actions: [],
  retention_days: 400,
  at_monthly_limit: 'deny',
}

describe.each(someDialects())('/v1/organization on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect, clock: createClock(NOW) })
  })
  afterAll(() => api.remit.close())

  const change = (settings: object, key?: string) =>
    api.ok('changeOrganization', { body: { settings }, ...(key !== undefined && { key }) })

  it('GET shows the organization of the key, with the defaults of its settings', async () => {
    const other = api.as(await api.remit.organization('team'))

    expect(await api.ok('getOrganization')).toEqual({
      decisions_this_month: 0,
      id: api.org.id,
      name: expect.any(String),
      plan: 'enterprise',
      settings: DEFAULTS,
      created_at: NOW,
    })
    expect(await other.ok('getOrganization')).toMatchObject({ id: other.org.id, plan: 'team' })
  })

  it('PATCH changes what it names, records the whole object, and null puts a setting back', async () => {
    const changed = await change({ default_effect: 'deny', consequential_actions: ['payments.*'] })
    const further = await change({ four_eyes: true, default_effect: null })

    expect(changed.settings).toEqual({
      ...DEFAULTS,
      default_effect: 'deny',
      consequential_actions: ['payments.*'],
    })
    const settings = { ...DEFAULTS, four_eyes: true, consequential_actions: ['payments.*'] }
    expect(further.settings).toEqual(settings)
    const { ledger, ...organization } = further
    expect(await api.ok('getOrganization')).toEqual({ ...organization, decisions_this_month: 0 })
    expect(await api.ok('getEntry', { params: { seq: ledger?.seq ?? -1 } })).toMatchObject({
      kind: 'organization.updated',
      actor: { type: 'key', id: `key_${api.org.key.slice(4, 20)}` },
      data: { organization },
    })
  })

  it('the entry names the person that the key names', async () => {
    const { secret } = await createKey(api.remit.writer, api.org.id, {
      role: 'admin',
      person: 'ada@example.org',
    })

    const { ledger } = await change({ unknown_agents: null }, secret)

    expect(await api.ok('getEntry', { params: { seq: ledger?.seq ?? -1 } })).toMatchObject({
      data: { person: 'ada@example.org' },
    })
  })

  it('touches no other organization', async () => {
    const other = api.as(await api.remit.organization())

    await change({ require_separate_keys: true })

    expect((await other.ok('getOrganization')).settings).toEqual(DEFAULTS)
  })

  it('moves the version of the configuration, so that decisions follow it', async () => {
    const version = async () => (await api.remit.ledger.head(api.org.id)).config_version
    const before = await version()

    await change({ four_eyes: false })

    expect(await version()).toBe(before + 1)
  })

  it.each([
    ['no settings', {}, 'settings'],
    ['an unknown setting', { settings: { default_efect: 'deny' } }, 'settings.default_efect'],
    ['another effect', { settings: { default_effect: 'maybe' } }, 'settings.default_effect'],
    ['text for a flag', { settings: { four_eyes: 'true' } }, 'settings.four_eyes'],
    [
      'text for a list',
      { settings: { consequential_actions: 'a' } },
      'settings.consequential_actions',
    ],
    [
      'an empty pattern',
      { settings: { consequential_actions: [''] } },
      'settings.consequential_actions.0',
    ],
    ['no retention', { settings: { retention_days: 0 } }, 'settings.retention_days'],
    ['a short retention', { settings: { retention_days: 182 } }, 'settings.retention_days'],
    [
      'a short retention that is not acknowledged',
      { settings: { retention_days: 182 }, acknowledge_short_retention: false },
      'settings.retention_days',
    ],
    ['a name', { settings: {}, name: 'other' }, 'name'],
    ['a plan', { settings: {}, plan: 'enterprise' }, 'plan'],
  ])('400 for %s, and nothing changes', async (_, body, path) => {
    const before = await api.ok('getOrganization')

    const problem = await api.refusal('changeOrganization', { body })

    expect(problem.errors?.map((error) => error.path)).toEqual([path])
    expect(await api.ok('getOrganization')).toEqual(before)
  })

  it('contains the range of a number', async () => {
    for (const retention_days of [0, 36_501, 1.5, 'long']) {
      const { errors } = await api.refusal('changeOrganization', {
        body: { settings: { retention_days } },
      })
      expect(errors?.[0]?.message).toBe('must be a whole number from 1 to 36500')
    }
  })

  it('takes a retention below 183 days on the caller’s word only, and then warns with the articles', async () => {
    const other = api.as(await api.remit.organization())
    const set = (retention_days: number, acknowledge_short_retention?: boolean) =>
      other.ok('changeOrganization', {
        body: {
          settings: { retention_days },
          ...(acknowledge_short_retention && { acknowledge_short_retention }),
        },
      })
    const refused = await other.refusal('changeOrganization', {
      body: { settings: { retention_days: 90 } },
    })
    const floor = await set(183)
    const short = await set(90, true)

    for (const text of ['19(1)', '26(6)', '183']) {
      expect(refused.detail).toContain(text)
      expect(short.warnings?.join()).toContain(text)
    }
    expect(floor).not.toHaveProperty('warnings')
    expect(await other.ok('getOrganization')).toMatchObject({
      settings: { retention_days: 90 },
      warnings: short.warnings,
    })
    const entry = await other.ok('getEntry', { params: { seq: short.ledger?.seq ?? -1 } })
    expect(entry.data).toMatchObject({
      acknowledge_short_retention: true,
      organization: { settings: { retention_days: 90 } },
    })
    expect(entry.data?.['organization']).not.toHaveProperty('warnings')
  })

  it('403 for every role but admin where it changes, and for ingest where it reads', async () => {
    for (const role of ['ingest', 'approver', 'read'] as const) {
      const key = await api.remit.key(api.org.id, role)
      const body = { settings: { four_eyes: true } }
      expect((await api.refusal('changeOrganization', { key, body })).code).toBe('role_required')
      const { status } = await api.call('getOrganization', { key })
      expect(status).toBe(role === 'ingest' ? 403 : 200)
    }
  })

  it('403 below the team plan', async () => {
    const free = api.as(await api.remit.organization('free'))

    for (const name of ['getOrganization', 'changeOrganization'] as const) {
      expect((await free.refusal(name)).code).toBe('plan_required')
    }
  })
})
