import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listKeys } from '../keys/store.ts'
import { createClock, createTestRemit, DIALECTS } from '@remit/testing'
import type { TestClock, TestOrganization, TestRemit } from '@remit/testing'
import { createKey, endKey, rotateKey, setPlan, setSettings } from './administration.ts'

describe.each(DIALECTS)('administration on %s', (dialect) => {
  let remit: TestRemit
  let clock: TestClock
  let org: TestOrganization
  beforeAll(async () => {
    clock = createClock()
    remit = await createTestRemit({ dialect, clock })
    org = await remit.organization('team')
  })
  afterAll(() => remit.close())

  /** The newest entries of the organization, oldest first. */
  const newest = async (count: number) => {
    const { size } = await remit.ledger.head(org.id)
    return Promise.all(
      Array.from({ length: count }, (_, i) => remit.ledger.entry(org.id, size - count + i)),
    )
  }
  const everything = async () =>
    JSON.stringify([
      await remit.db.selectFrom('ingest_key').selectAll().execute(),
      await remit.db.selectFrom('ledger_entry').selectAll().execute(),
    ])

  it('makes a key that works, records it, and keeps its secret nowhere', async () => {
    const key = await createKey(remit.writer, org.id, {
      role: 'read',
      person: 'ada@example.org',
      name: 'audit',
    })

    expect((await remit.call('GET', '/v1/scorers', { key: key.secret })).status).toBe(200)
    const shown = { id: key.id, role: 'read', person: 'ada@example.org', name: 'audit' }
    expect(await newest(1)).toMatchObject([
      { kind: 'key.created', actor: { type: 'system', id: 'remit' }, data: { key: shown } },
    ])
    expect(await everything()).not.toContain(key.secret)
    expect(await everything()).not.toContain(key.secret.slice(20, 63))
  })

  it('ends a key for good, once', async () => {
    const key = await createKey(remit.writer, org.id, { role: 'read' })

    const ended = await endKey(remit.writer, org.id, key.id)

    expect(ended).toEqual({ id: key.id, revoked_at: '2026-11-20T08:00:00.000Z' })
    expect((await remit.call('GET', '/v1/scorers', { key: key.secret })).status).toBe(401)
    expect(await newest(1)).toMatchObject([{ kind: 'key.revoked', data: { key_id: key.id } }])
    await expect(endKey(remit.writer, org.id, key.id)).rejects.toMatchObject({
      code: 'key_not_found',
    })
  })

  it('puts a successor with the same role, person and name in the place of a key', async () => {
    const old = await createKey(remit.writer, org.id, {
      role: 'approver',
      person: 'ada@example.org',
      name: 'n',
    })

    const next = await rotateKey(remit.writer, org.id, old.id)

    expect((await remit.call('GET', '/v1/scorers', { key: old.secret })).status).toBe(401)
    expect((await remit.call('GET', '/v1/scorers', { key: next.secret })).status).toBe(200)
    const [made, ended] = await newest(2)
    expect(made).toMatchObject({
      kind: 'key.created',
      data: {
        key: { id: next.id, role: 'approver', person: 'ada@example.org', name: 'n' },
        rotated_from: old.id,
      },
    })
    expect(ended).toMatchObject({ kind: 'key.revoked', data: { key_id: old.id } })
  })

  it('touches no key of another organization', async () => {
    const other = await remit.organization()
    const theirs = `key_${other.key.slice(4, 20)}`

    for (const change of [endKey, rotateKey]) {
      await expect(change(remit.writer, org.id, theirs)).rejects.toMatchObject({
        code: 'key_not_found',
      })
    }

    expect(await listKeys(remit.db, other.id)).toMatchObject([{ id: theirs, revoked_at: null }])
  })

  it('leaves no entry of a change that is refused', async () => {
    const { size } = await remit.ledger.head(org.id)

    await expect(endKey(remit.writer, org.id, 'key_unknown')).rejects.toMatchObject({
      code: 'key_not_found',
    })

    expect((await remit.ledger.head(org.id)).size).toBe(size)
  })

  it('moves an organization to another plan, with the whole object in the entry', async () => {
    const organization = await setPlan(remit.writer, org.id, 'enterprise')

    expect(organization).toMatchObject({
      id: org.id,
      plan: 'enterprise',
      settings: { default_effect: 'allow' },
    })
    expect(await newest(1)).toMatchObject([
      { kind: 'organization.updated', data: { organization } },
    ])
  })

  it('changes one setting and leaves the others; null puts it back', async () => {
    const changed = await setSettings(remit.writer, org.id, { default_effect: 'deny' })
    const further = await setSettings(remit.writer, org.id, { unknown_agents: 'deny' })
    const back = await setSettings(remit.writer, org.id, { default_effect: null })

    const others = {
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
    expect(changed.settings).toEqual({
      default_effect: 'deny',
      unknown_agents: 'allow',
      ...others,
    })
    expect(further.settings).toEqual({ default_effect: 'deny', unknown_agents: 'deny', ...others })
    expect(back.settings).toEqual({ default_effect: 'allow', unknown_agents: 'deny', ...others })
  })

  it('keeps flags and lists as they are', async () => {
    const change = { four_eyes: true, consequential_actions: ['payments.*', 'db.drop'] }

    const { settings } = await setSettings(remit.writer, org.id, change)

    expect(settings).toMatchObject(change)
  })

  it.each([
    [{ default_effects: 'deny' }, 'default_effects'],
    [{ default_effect: 'maybe' }, 'default_effect'],
    [{ constructor: 'deny' }, 'constructor'],
    [{ four_eyes: 'true' }, 'four_eyes'],
    [{ consequential_actions: 'payments.*' }, 'consequential_actions'],
    [{ consequential_actions: [''] }, 'consequential_actions'],
    [{ consequential_actions: Array(101).fill('a') }, 'consequential_actions'],
  ])('refuses the setting %j', async (change, path) => {
    await expect(setSettings(remit.writer, org.id, change)).rejects.toMatchObject({
      code: 'invalid_request',
      extras: { errors: [{ path }] },
    })
  })

  it('refuses an organization that is not there', async () => {
    await expect(setPlan(remit.writer, 'org_unknown', 'team')).rejects.toMatchObject({
      code: 'ledger_unavailable',
    })
  })

  it('moves the version of the configuration with every change, and only then', async () => {
    const version = async () => (await remit.ledger.head(org.id)).config_version
    const before = await version()

    await setPlan(remit.writer, org.id, 'team')
    await setPlan(remit.writer, 'org_unknown', 'team').catch(() => undefined)

    expect(await version()).toBe(before + 1)
  })
})
