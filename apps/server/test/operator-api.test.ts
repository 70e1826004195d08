import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { operator, PROBLEMS } from '@remit/contract'
import type { Endpoint, Problem } from '@remit/contract'
import { PLAN_LIMITS } from '@remit/core/orgs/settings'
import { generateOperatorKey, operatorKeyLine } from '@remit/core/server'
import { apiOf, createClock, createTestRemit, DIALECTS, scratchFolder } from '@remit/testing'
import type { TestClock, TestRemit } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasModules, loadModules } from '../src/boot/modules.ts'
import { operatorKeysIn } from '../src/settings/secrets-key.ts'
import { cliJson } from './support/cli.ts'

const START = '2026-11-20T08:00:00.000Z'
const DAY_MS = 24 * 60 * 60 * 1000
const PATH = '/v1/operator/organizations'
const key = generateOperatorKey()
const [, hash = ''] = operatorKeyLine('ada', key).split(' ')
const operatorKeys = new Map([[hash, 'ada']])

const all = Object.entries(operator) as [string, Endpoint][]
const pathOf = ({ path }: Endpoint, id: string) => path.replace('{id}', id)

describe.skipIf(!hasModules()).each(DIALECTS)('the operator API on %s', (dialect) => {
  let remit: TestRemit
  let clock: TestClock
  let count = 0
  beforeAll(async () => {
    clock = createClock(START)
    remit = await createTestRemit({ dialect, clock, modules: await loadModules(), operatorKeys })
  })
  afterAll(() => remit.close())
  beforeEach(() => clock.set(START))

  const call = (method: string, path: string, body?: unknown) =>
    remit.call(method, path, { key, ...(body !== undefined && { body }) })
  const ok = async <T = Record<string, unknown>>(method: string, path: string, body?: unknown) => {
    const response = await call(method, path, body)
    const text = await response.text()
    expect([response.status, text]).toEqual([response.status < 300 ? response.status : 200, text])
    return JSON.parse(text) as T
  }
  const refusal = async (method: string, path: string, body?: unknown) => {
    const response = await call(method, path, body)
    const problem = (await response.json()) as Problem
    expect(response.status).toBe(PROBLEMS[problem.code][0])
    return problem
  }
  const create = (more: object = {}) =>
    ok<{ organization: { id: string; name: string }; key: { secret: string } }>('POST', PATH, {
      name: `hosted ${++count}`,
      ...more,
    })

  it('every change is recorded in the ledger of the organization with the name of the key', async () => {
    const { organization, key: secret } = await create({ plan: 'team' })
    const path = `${PATH}/${organization.id}`
    await ok('PATCH', path, { plan: 'enterprise', limits: { agents: 3 } })
    await ok('POST', `${path}/suspend`, { reason: 'Invoice 4711' })
    await ok('POST', `${path}/resume`)
    await ok('POST', `${path}/suspend`, {})
    await ok('POST', `${path}/deletion`, { reason: 'left' })

    const api = apiOf(remit, { id: organization.id, key: secret.secret })
    const { data } = await api.ok('listEntries')
    const changes = data.toReversed().filter(({ kind }) => kind.startsWith('organization.'))
    expect(changes).toMatchObject([
      { kind: 'organization.created', data: { operator: 'ada' } },
      {
        kind: 'organization.updated',
        data: { operator: 'ada', organization: { plan: 'enterprise' } },
      },
      { kind: 'organization.updated', data: { operator: 'ada', reason: 'Invoice 4711' } },
      { kind: 'organization.updated', data: { operator: 'ada' } },
      { kind: 'organization.updated', data: { operator: 'ada' } },
      { kind: 'organization.updated', data: { operator: 'ada', reason: 'left' } },
    ])
  })

  it('a plan brings its limits; values that the operator chose stay', async () => {
    const { organization } = await create({ limits: { agents: 42 } })
    expect(organization).toMatchObject({
      plan: 'free',
      limits: { ...PLAN_LIMITS.free, agents: 42 },
    })
    const path = `${PATH}/${organization.id}`
    const moved = await ok('PATCH', path, { plan: 'team' })
    expect(moved).toMatchObject({ plan: 'team', limits: { ...PLAN_LIMITS.team, agents: 42 } })
    const none = await ok('PATCH', path, { limits: { agents: null, policies: 7 } })
    expect(none['limits']).toEqual({ ...PLAN_LIMITS.team, policies: 7, agents: undefined })
  })

  it('organizations are listed by pages, with the decisions of this month', async () => {
    const { organization, key: secret } = await create({ plan: 'enterprise' })
    const api = apiOf(remit, { id: organization.id, key: secret.secret })
    await api.ok('authorize', { body: { agent_id: 'a', action: 'a.b' } })
    const found: Record<string, unknown>[] = []
    let cursor: string | null = null
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`
      const page: { data: Record<string, unknown>[]; next_cursor: string | null } = await ok(
        'GET',
        `${PATH}?limit=2${query}`,
      )
      found.push(...page.data)
      cursor = page.next_cursor
    } while (cursor !== null)
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length)
    expect(found).toContainEqual(
      expect.objectContaining({ id: organization.id, decisions_this_month: 1 }),
    )
    expect(await ok('GET', `${PATH}/${organization.id}`)).toEqual(
      found.find(({ id }) => id === organization.id),
    )
  })

  it('a page continues after an organization that was deleted meanwhile', async () => {
    for (let i = 0; i < 3; i++) await create()
    type Listed = { data: { id: string; name: string }[]; next_cursor: string | null }
    const whole: Listed = await ok('GET', `${PATH}?limit=1000`)
    const at = whole.data.length - 2
    const gone = whole.data[at]
    const path = `${PATH}/${gone?.id}`
    await ok('POST', `${path}/suspend`, {})
    await ok('POST', `${path}/deletion`, {})
    clock.advance(7 * DAY_MS)
    await ok('DELETE', `${path}?confirm=${encodeURIComponent(gone?.name ?? '')}`)

    const rest: Listed = await ok('GET', `${PATH}?cursor=${gone?.id}`)
    expect(rest).toMatchObject({ data: [{ id: whole.data[at + 1]?.id }], next_cursor: null })
    expect(rest.data).toHaveLength(1)
  })

  it('usage is the same as the organization sees', async () => {
    const { organization, key: secret } = await create({ plan: 'enterprise' })
    const api = apiOf(remit, { id: organization.id, key: secret.secret })
    const path = `${PATH}/${organization.id}/usage`
    expect(await ok('GET', path)).toEqual(await api.ok('getUsage'))
    expect((await refusal('GET', `${path}?from=2026-11-21T00:00:00.000Z`)).code).toBe(
      'invalid_request',
    )
  })

  it('export and deletion: the archive, the waiting time, the name to confirm, and the end that stays', async () => {
    const { organization } = await create()
    const path = `${PATH}/${organization.id}`
    const ledger = await (await call('GET', `${path}/ledger`)).text()
    expect(ledger.split('\n')[0]).toContain('"ledger-export/v1"')
    const configuration = await (await call('GET', `${path}/configuration`)).text()
    expect(configuration.trimEnd().split('\n').at(-1)).toContain('"type":"end"')

    const named = `${path}?confirm=${encodeURIComponent(organization.name)}`
    expect((await refusal('POST', `${path}/deletion`, {})).code).toBe('organization_active')
    await ok('POST', `${path}/suspend`, {})
    expect((await refusal('DELETE', named)).code).toBe('deletion_not_due')
    await ok('POST', `${path}/deletion`, {})
    clock.advance(7 * DAY_MS - 1)
    expect((await refusal('DELETE', named)).code).toBe('deletion_not_due')
    clock.advance(1)
    expect((await refusal('DELETE', path)).errors).toMatchObject([{ path: 'confirm' }])
    expect((await refusal('DELETE', `${path}?confirm=other`)).errors).toMatchObject([
      { path: 'confirm' },
    ])
    const deletion = await ok<{ ledger: { entry: string } }>('DELETE', named)
    expect(
      JSON.parse((JSON.parse(deletion.ledger.entry) as { payload: string }).payload),
    ).toMatchObject({
      data: { operator: 'ada' },
    })
    expect((await refusal('GET', path)).code).toBe('organization_not_found')
  })

  it.each(all)('%s takes operator keys only', async (_, endpoint) => {
    const { organization, key: secret } = await create({ plan: 'enterprise' })
    const path = pathOf(endpoint, organization.id)
    const body = endpoint.body && { body: {} }
    for (const other of [secret.secret, generateOperatorKey(), 'rmo_', undefined]) {
      const response = await remit.call(endpoint.method, path, {
        ...(other !== undefined && { key: other }),
        ...body,
      })
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([
        401,
        'Bearer realm="remit operator"',
      ])
    }
    const named = await remit.call(endpoint.method, path, {
      headers: { 'x-api-key': key },
      ...body,
    })
    expect(named.status).toBe(401)
  })

  it.each(all.filter(([, { path }]) => path.includes('{id}')))(
    '%s of an unknown organization is 404',
    async (name, endpoint) => {
      const path = `${pathOf(endpoint, 'org_nobody')}${endpoint.method === 'DELETE' ? '?confirm=x' : ''}`
      const body = name === 'limitOrganization' ? { plan: 'team' } : endpoint.body && {}
      expect((await refusal(endpoint.method, path, body)).code).toBe('organization_not_found')
    },
  )

  it('an operator key is no key of an organization', async () => {
    for (const path of ['/v1/organization', '/v1/ledger', '/v1/keys', '/v1/scorers']) {
      const response = await remit.call('GET', path, { key })
      expect([path, response.status]).toEqual([path, 401])
    }
    const session = (await (await remit.call('GET', '/v1/session')).json()) as {
      endpoints: string[]
    }
    expect(session.endpoints.filter((one) => one.includes('operator'))).toEqual([])
    const document = await (await remit.call('GET', '/openapi.json')).text()
    expect(document).not.toContain('/v1/operator')
  })

  it.each([
    ['POST', '', { name: 'org_x' }, 'invalid_request'],
    ['POST', '', { name: 'ok', plan: 'gold' }, 'invalid_request'],
    ['POST', '', { name: 'ok', limits: { cars: 1 } }, 'invalid_request'],
    ['PATCH', '/ID', {}, 'invalid_request'],
    ['PATCH', '/ID', { limits: { agents: 0 } }, 'invalid_request'],
    ['POST', '/ID/suspend', { reason: '' }, 'invalid_request'],
    ['GET', '?limit=0', undefined, 'invalid_request'],
    ['GET', '?cursor=somewhere', undefined, 'invalid_request'],
  ])('%s %s with %j is %s', async (method, path, body, code) => {
    const { organization } = await create()
    const problem = await refusal(method, PATH + path.replace('ID', organization.id), body)
    expect(problem.code).toBe(code)
  })

  it('a name is given once', async () => {
    const { organization } = await create()
    expect((await refusal('POST', PATH, { name: organization.name })).code).toBe(
      'organization_exists',
    )
  })
})

describe('operator keys', () => {
  it('without any, the API does not exist', async () => {
    const remit = await createTestRemit()
    for (const [, endpoint] of all) {
      const response = await remit.call(endpoint.method, pathOf(endpoint, 'org_x'), { key })
      expect(response.status).toBe(404)
    }
    await remit.close()
  })

  it('are read from the lines that `remit key operator` prints', async () => {
    const { operator_key: made } = await cliJson<{
      operator_key: { name: string; secret: string; line: string }
    }>(['key', 'operator', 'ada'], {})
    const file = join(scratchFolder('operator'), 'keys')
    writeFileSync(file, `# operators\n${made.line}\n\n`)
    const [[stored, name] = []] = operatorKeysIn(file) ?? []
    expect([stored, name]).toEqual([operatorKeyLine('ada', made.secret).split(' ')[1], 'ada'])
    expect(readFileSync(file, 'utf8')).not.toContain(made.secret)
  })

  it.each([
    ['ada', 'line 1 must be a name'],
    [`ada ${key}`, 'line 1 must be a name'],
    [`Ada ${hash}`, 'line 1 must be a name'],
    [`ada ${hash} x`, 'line 1 must be a name'],
    [`ada ${hash}\nbob ${hash}`, 'line 2 repeats'],
    [`# nobody`, 'has no key'],
  ])('%j is refused', (text, message) => {
    const file = join(scratchFolder('operator'), 'keys')
    writeFileSync(file, text)
    expect(() => operatorKeysIn(file)).toThrow(message)
    expect(() => operatorKeysIn(`${file}.none`)).toThrow(
      'cannot be read: no such file or directory',
    )
  })
})

it('docs/operator-api.md describes every endpoint', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../../docs/operator-api.md'), 'utf8')
  const described = [...page.matchAll(/`(GET|POST|PATCH|DELETE) (\/v1\/operator\S*)`/g)].map(
    ([, method, path]) => `${method} ${path}`,
  )
  expect(described.toSorted()).toEqual(
    all.map(([, { method, path }]) => `${method} ${path}`).toSorted(),
  )
})
