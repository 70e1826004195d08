import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readAssignments } from '../src/cli/org.ts'
import { cli, cliJson, createOrg } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

interface Entry {
  readonly kind: string
  readonly payload: string
}

describe.each(someDialects())('organizations and keys on %s', (dialect) => {
  let installation: Installation
  let env: Installation['env']

  beforeAll(async () => {
    installation = await createInstallation(dialect, { hasTables: false })
    env = installation.env
  })
  afterAll(() => installation.remove())

  const lastEntry = (orgId: string): Promise<Entry> =>
    installation.database((db) =>
      db
        .selectFrom('ledger_entry')
        .select(['kind', 'payload'])
        .where('org_id', '=', orgId)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirstOrThrow(),
    ) as Promise<Entry>

  test('org create on an empty database gives an organization and its first admin key', async () => {
    const created = await createOrg(env, 'first', '--plan', 'team')

    expect(Object.keys(created)).toEqual(['organization', 'key'])
    expect(created.organization).toEqual({
      id: expect.stringMatching(/^org_/),
      name: 'first',
      plan: 'team',
      created_at: expect.stringMatching(/Z$/),
    })
    expect(created.key).toEqual({
      id: expect.stringMatching(/^key_/),
      role: 'admin',
      secret: expect.stringMatching(/^rmk_[0-9A-Za-z]{65}$/),
    })
  })

  test('an organization is suspended with a reason, and a blank one is none', async () => {
    const { organization } = await createOrg(env, 'to suspend')
    const recorded = async (reason: string) => {
      await cliJson(['org', 'suspend', 'to suspend', '--reason', reason], env)
      const { kind, payload } = await lastEntry(organization.id)
      await cliJson(['org', 'resume', 'to suspend'], env)
      return [kind, (JSON.parse(payload) as { data: { reason?: string } }).data.reason]
    }

    expect(await recorded('unpaid')).toEqual(['organization.updated', 'unpaid'])
    for (const blank of ['', ' ', '\u200B'])
      expect(await recorded(blank)).toEqual(['organization.updated', undefined])
  })

  test('a person sees the secret of a new organization once, and a list never shows it', async () => {
    const { stdout, code } = await cli(['org', 'create', 'for people'], env)
    const secret = /rmk_[0-9A-Za-z]{65}/.exec(stdout)?.[0] ?? 'none'
    const lists = await Promise.all([
      cli(['org', 'list'], env),
      cli(['key', 'list', '--org', 'for people'], env),
      cli(['key', 'list', '--org', 'for people', '--json'], env),
    ])

    expect(code).toBe(0)
    expect(stdout).toContain('shown only once')
    expect(lists[0]?.stdout).toMatch(/^ID +NAME +PLAN +CREATED\n/)
    expect(lists[0]?.stdout).toMatch(/^org_\w+ +for people +enterprise +\d{4}-/m)
    for (const list of lists)
      expect(list).toMatchObject({ code: 0, stdout: expect.not.stringContaining(secret.slice(20)) })
  })

  test('a list has pages', async () => {
    for (const name of ['one', 'two', 'three']) await createOrg(env, name)
    type Page = { organizations: { id: string }[]; next_cursor: string | null }
    const whole = await cliJson<Page>(['org', 'list'], env)
    const found: string[] = []
    let cursor: string | null = null
    do {
      const args: string[] = cursor === null ? [] : ['--cursor', cursor]
      const page: Page = await cliJson(['org', 'list', '--limit', '2', ...args], env)
      found.push(...page.organizations.map(({ id }) => id))
      cursor = page.next_cursor
    } while (cursor !== null)

    expect(found).toEqual(whole.organizations.map(({ id }) => id))
    expect(found.length).toBeGreaterThan(2)
    const { stdout } = await cli(['org', 'list', '--limit', '1'], env)
    expect(stdout).toContain(`More: remit org list --cursor ${found[0]}\n`)
    for (const limit of ['0', '1001', 'x'])
      expect((await cli(['org', 'list', '--limit', limit], env)).stderr).toContain(
        '--limit must be',
      )
  })

  test('a name is given once, and must not look like an id', async () => {
    await createOrg(env, 'taken')

    expect(await cli(['org', 'create', 'taken'], env)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'remit: An organization named taken already exists\n',
    })
    expect(await cli(['org', 'create', 'org_taken'], env)).toMatchObject({ code: 1, stdout: '' })
    expect(await cli(['org', 'create', ' taken'], env)).toMatchObject({ code: 1, stdout: '' })
  })

  test('org set changes settings by name and records the whole object', async () => {
    const { organization } = await createOrg(env, 'with settings')
    const changed = await cliJson(
      ['org', 'set', 'with settings', 'default_effect=deny', 'unknown_agents=deny'],
      env,
    )
    const { kind, payload } = await lastEntry(organization.id)
    const back = await cliJson(['org', 'set', organization.id, 'default_effect='], env)

    const settings = {
      default_effect: 'deny',
      unknown_agents: 'deny',
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
    expect(changed).toEqual({ organization: { ...organization, settings } })
    expect(kind).toBe('organization.updated')
    expect(JSON.parse(payload).data).toEqual(changed)
    expect(back).toMatchObject({
      organization: { settings: { ...settings, default_effect: 'allow' } },
    })
  })

  test('org set takes flags and lists as people write them', async () => {
    await createOrg(env, 'flags')
    const set = async (...assignments: string[]) =>
      (
        await cliJson<{ organization: { settings: Record<string, unknown> } }>(
          ['org', 'set', 'flags', ...assignments],
          env,
        )
      ).organization.settings

    const written = ['four_eyes=true', 'consequential_actions=payments.*, db.drop']
    expect(await set(...written)).toMatchObject({
      four_eyes: true,
      rule_changes: 'direct',
      require_separate_keys: false,
      require_agent_credentials: false,
      credentials_per_agent: 10,
      keyless_exchange: false,
      consequential_actions: ['payments.*', 'db.drop'],
      retention_days: 400,
      at_monthly_limit: 'deny',
    })
    expect(await set('consequential_actions=["a,b"]')).toMatchObject({
      consequential_actions: ['a,b'],
    })
    const { stdout } = await cli(
      ['org', 'set', 'flags', 'four_eyes=false', ...written.slice(1)],
      env,
    )
    expect(stdout).toMatch(/^four_eyes: +false\n/m)
    expect(stdout).toMatch(/^consequential_actions: +payments\.\*,db\.drop\n/m)
  })

  const NAMES =
    'default_effect, unknown_agents, four_eyes, rule_changes, require_separate_keys, require_agent_credentials, credentials_per_agent, keyless_exchange, consequential_actions, retention_days, at_monthly_limit'

  test.each([
    ['default_efect=deny', `default_efect: is not a setting; the settings are ${NAMES}`],
    ['four_eyes=yes', 'four_eyes: must be true or false'],
    ['require_separate_keys=1', 'require_separate_keys: must be true or false'],
    [
      'consequential_actions=a,,b',
      'consequential_actions: must be 1 to 256 characters in NFC, without invisible characters, blanks other than U+0020 or outer blanks; * is any run of characters',
    ],
    ['consequential_actions=[5]', 'consequential_actions: must be a string, not a number'],
    ['credentials_per_agent=0', 'credentials_per_agent: must be a whole number from 1 to 100'],
    ['default_effect=perhaps', 'default_effect: must be allow or deny'],
    ['default_effect=true', 'default_effect: must be allow or deny'],
    ['__proto__=deny', `__proto__: is not a setting; the settings are ${NAMES}`],
    ['deny', 'deny is not a setting in the form name=value'],
  ])('org set refuses %s and says what is accepted', async (assignment, message) => {
    const name = `refusing ${assignment}`
    const { organization } = await createOrg(env, name)
    const before = await lastEntry(organization.id)

    const refused = await cli(['org', 'set', name, assignment], env)

    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toBe(`remit: ${message}\n`)
    expect(await lastEntry(organization.id)).toEqual(before)
  })

  test('set-plan records the whole organization', async () => {
    const { organization } = await createOrg(env, 'moving')
    const moved = await cliJson(['org', 'set-plan', 'moving', 'free'], env)

    expect(moved).toMatchObject({ organization: { ...organization, plan: 'free' } })
    expect(JSON.parse((await lastEntry(organization.id)).payload).data).toEqual(moved)
  })

  test('a key has the role, person and name that it was made with', async () => {
    const { organization } = await createOrg(env, 'keyed')
    const args = [
      'key',
      'create',
      '--org',
      'keyed',
      '--role',
      'approver',
      '--person',
      'ada@example.com',
      '--name',
      'desk',
    ]
    const { key } = await cliJson<{ key: { id: string; secret: string } }>(args, env)
    const { keys } = await cliJson<{ keys: unknown[] }>(['key', 'list', '--org', 'keyed'], env)

    expect(key).toMatchObject({ org_id: organization.id, secret: expect.stringMatching(/^rmk_/) })
    expect(keys).toHaveLength(2)
    expect(keys).toContainEqual({
      id: key.id,
      role: 'approver',
      person: 'ada@example.com',
      name: 'desk',
      created_at: expect.any(String),
      revoked_at: null,
    })
  })

  test('rotate ends a key and gives its successor the same role and person', async () => {
    await createOrg(env, 'rotating')
    const args = [
      'key',
      'create',
      '--org',
      'rotating',
      '--role',
      'read',
      '--person',
      'ada@example.com',
    ]
    const { key: old } = await cliJson<{ key: { id: string } }>(args, env)
    const { key: next } = await cliJson<{ key: { id: string; secret: string } }>(
      ['key', 'rotate', old.id],
      env,
    )
    const { keys } = await cliJson<{ keys: { id: string }[] }>(
      ['key', 'list', '--org', 'rotating'],
      env,
    )

    expect(next.secret).toMatch(/^rmk_/)
    expect(keys.find(({ id }) => id === old.id)).toMatchObject({ revoked_at: expect.any(String) })
    expect(keys.find(({ id }) => id === next.id)).toMatchObject({
      role: 'read',
      person: 'ada@example.com',
      revoked_at: null,
    })
  })

  test('a key is revoked once; an unknown one is told apart from success', async () => {
    const { key } = await createOrg(env, 'revoking')

    expect(await cli(['key', 'revoke', key.id], env)).toMatchObject({ code: 0 })
    expect(await cli(['key', 'revoke', key.id], env)).toMatchObject({ code: 1, stdout: '' })
    expect(await cli(['key', 'rotate', key.id], env)).toMatchObject({ code: 1, stdout: '' })
    expect(await cli(['key', 'revoke', 'key_nobody'], env)).toMatchObject({ code: 1, stdout: '' })
  })

  test('where there are several organizations, --org is required and must name one', async () => {
    await createOrg(env, 'one of several')

    expect(await cli(['key', 'list'], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--org is required'),
    })
    expect(await cli(['key', 'list', '--org', 'nobody'], env)).toMatchObject({
      code: 1,
      stderr: 'remit: The organization nobody does not exist\n',
    })
  })

  test.each([
    ['--role', 'owner'],
    ['--role', 'read', '--person', 'not an address'],
    ['--role', 'read', '--name', ''],
  ])('key create refuses %s %s %s %s', async (...options) => {
    const refused = await cli(
      ['key', 'create', '--org', 'one of several', ...options.filter((text) => text !== undefined)],
      env,
    )

    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})

describe('key generate', () => {
  test('prints a well-formed key and needs no database', async () => {
    const env = { REMIT_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }

    expect(await cli(['key', 'generate'], env)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^rmk_[0-9A-Za-z]{65}\n$/),
    })
  })
})

describe('readAssignments', () => {
  test('reads JSON where the value is JSON, text elsewhere, and an empty value as none', () => {
    const list = 'consequential_actions=7'
    expect(readAssignments(['a=deny', 'b=["x*"]', 'c=3', 'd=', 'e=f=g', list])).toEqual({
      a: 'deny',
      b: ['x*'],
      c: 3,
      d: null,
      e: 'f=g',
      consequential_actions: ['7'],
    })
  })
})
