import { createClient } from '@remit/contract'
import type { Client } from '@remit/contract'
import { createTestRemit, someDialects } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listen } from '../src/boot/listen.ts'
import type { Listener } from '../src/boot/listen.ts'
import { hasModules, loadModules } from '../src/boot/modules.ts'
import { parseAnswer, RawConnection } from './support/raw-http.ts'

const OWNERS = [{ type: 'user' as const, id: 'ada' }]

describe.skipIf(!hasModules()).each(someDialects())('the id of an agent on %s', (dialect) => {
  let remit: TestRemit
  let listener: Listener
  let client: Client
  let key: string
  beforeAll(async () => {
    remit = await createTestRemit({ dialect, modules: await loadModules() })
    listener = await listen(remit.app, { host: '127.0.0.1', port: 0 })
    ;({ key } = await remit.organization())
    client = createClient({ baseUrl: listener.url, key })
  })
  afterAll(async () => {
    await listener.stop()
    await remit.close()
  })

  const get = async (path: string) =>
    (
      await fetch(new URL(path, listener.url), { headers: { authorization: `Bearer ${key}` } })
    ).json()

  it.each([
    'user/ada@example.com',
    'spiffe://example.org/ns/pay/sa/agent',
    'Köln-Bot',
    'Data Science',
    'a/../b',
    '../x',
    '...',
    '%2F',
    '100%',
    'x/history',
    'what?#&=+;:,$!\'"()<>[]{}|\\^`~',
    '__proto__',
    '-bot',
    'エージェント/経理',
    '𝒳'.repeat(256),
  ])('may be what a decision takes, everywhere: %s', async (id) => {
    const decided = await client.authorize({ body: { agent_id: id, action: 'pay.it' } })
    expect(decided).toMatchObject({ decision: 'allow', agent_id: id })

    const spend = { params: { id } }
    const limit = await client.setSpendLimit({ ...spend, body: { daily_usd: 0 } })
    expect(limit.agent_id).toBe(id)
    expect(await client.getSpendLimit(spend)).toMatchObject({ agent_id: id })
    expect((await client.getSpendHistory(spend)).limit_usd).toBe(0)
    const paid = { agent_id: id, action: 'pay.it', context: { amount_usd: 1 } }
    expect(await client.authorize({ body: paid })).toMatchObject({ reason: 'spend_limit_daily' })
    await client.removeSpendLimit(spend)

    const agent = { params: { agentID: id } }
    expect(await client.registerAgent({ body: { agent_id: id, owners: OWNERS } })).toMatchObject({
      agent_id: id,
    })
    expect(await client.getAgent(agent)).toMatchObject({ agent_id: id })
    await client.changeAgent({ ...agent, body: { status: 'suspended' } })
    expect(await client.authorize({ body: paid })).toMatchObject({ reason: 'agent_suspended' })
    await client.changeAgent({ ...agent, body: { status: 'active' } })
    const issued = await client.issueCredential({ ...agent, body: { scopes: ['authorize'] } })
    const own = createClient({ baseUrl: listener.url, key: issued.secret ?? '' })
    expect(await own.authorize({ body: { action: 'pay.it' } })).toMatchObject({ agent_id: id })
    expect((await client.listCredentials(agent)).data).toHaveLength(1)

    await client.setAgentMode({ params: { agent_id: id }, body: { mode: 'granted' } })
    expect(await client.authorize({ body: paid })).toMatchObject({ reason: 'no_permission' })
    const grant = { agent_id: id, actions: ['pay.*'] }
    const permission = { params: { id: `p${Math.random()}` } }
    await client.grantPermission({ ...permission, body: grant })
    expect(await client.authorize({ body: paid })).toMatchObject({ reason: 'permission_grant' })
    const query = { agent_id: id }
    expect((await client.getEffectivePermissions({ query })).grants).toHaveLength(1)
    expect((await client.getDelegation({ query })).permissions).toHaveLength(1)
    expect((await client.listEntries({ query })).data.length).toBeGreaterThan(9)
    await client.removeAgent(agent)
    expect(await client.authorize({ body: paid })).toMatchObject({ reason: 'agent_removed' })
  })

  it('is in the address of what was created', async () => {
    const id = 'team ü/bot?x'
    const send = (path: string, body: object) =>
      fetch(new URL(path, listener.url), {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const limit = await send(`/v1/spend-limits/${encodeURIComponent(id)}`, { monthly_usd: 5 })
    const agent = await send('/v1/identity/agents', { agent_id: id, owners: OWNERS })

    for (const { status, headers } of [limit, agent]) {
      expect(status).toBe(201)
      expect(await get(headers.get('location') ?? '')).toMatchObject({ agent_id: id })
    }
  })

  it('pages through ids of any characters', async () => {
    const ids = ['ä/1', 'ä/2', '𝒳'.repeat(255), 'z z']
    for (const id of ids) await client.setSpendLimit({ params: { id }, body: { daily_usd: 1 } })
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await client.listSpendLimits({
        query: { limit: 1, ...(cursor !== undefined && { cursor }) },
      })
      seen.push(...page.data.map(({ agent_id }) => agent_id))
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)

    expect(seen).toEqual(expect.arrayContaining(ids))
    expect(new Set(seen).size).toBe(seen.length)
  })

  /** The status and the fields of the answer to a target that no client would send. */
  const raw = async (target: string) => {
    const connection = new RawConnection(listener.url)
    connection.send(
      `POST ${target} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n` +
        'content-type: application/json\r\ncontent-length: 15\r\nconnection: close\r\n\r\n{"daily_usd":1}',
    )
    const { status, body } = parseAnswer(await connection.all())
    const { errors = [] } = JSON.parse(body) as { errors?: readonly { path: string }[] }
    return { status, paths: errors.map(({ path }) => path) }
  }

  it.each([
    ['an invisible character', 'pay%EF%B8%8F', 'id'],
    ['a form other than NFC', 'Ko%CC%88ln', 'id'],
    ['an outer blank', 'pay%20', 'id'],
    ['a line break', 'pay%0Aer', 'id'],
    ['U+0000', 'pay%00er', 'id'],
    ['a pattern', 'pay*', 'id'],
    ['257 characters', 'x'.repeat(257), 'id'],
    ['a cut escape', 'pay%2', 'path'],
    ['no escape', '100%', 'path'],
    ['bytes that are not UTF-8', 'pay%C3%28', 'path'],
  ])('is refused with %s in a path, by name', async (_name, segment, path) => {
    expect(await raw(`/v1/spend-limits/${segment}`)).toEqual({ status: 400, paths: [path] })
  })

  it.each(['.', '..', '%2e', '%2E%2e', '.%2e'])('is not dots alone in a path: %s', async (dots) => {
    const { status } = await raw(`/v1/spend-limits/${dots}`)

    expect([400, 404, 405]).toContain(status)
  })
})
