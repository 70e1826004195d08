import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const item = (name: string, governed: boolean) => ({
  kind: 'mcp_server' as const,
  name,
  path: '/home/ada/.claude.json',
  governed,
  detail: 'npx',
})

describe.each(someDialects())('the inventory on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
  })
  afterAll(() => api.remit.close())

  it('keeps the newest report of each host, and records each', async () => {
    const old = { host: 'a', items: [item('files', false)], unread: ['/x'] }
    const now = { host: 'a', items: [item('files', true), item('mail', false)], unread: [] }
    await api.ok('reportInventory', { body: old })
    await api.ok('reportInventory', { body: now })
    await api.ok('reportInventory', { body: { ...old, host: 'b' } })

    const { data } = await api.ok('listInventory', {})
    expect(data).toEqual([
      { ...now, reported_at: expect.any(String) },
      { ...old, host: 'b', reported_at: expect.any(String) },
    ])
    const entries = await api.ok('listEntries', { query: { kind: 'inventory.reported' } })
    expect(entries.data.map((entry) => entry.data!['inventory'])).toEqual([
      expect.objectContaining({ host: 'b', unread: 1 }),
      {
        host: 'a',
        items: 2,
        governed: 1,
        ungoverned: [{ kind: 'mcp_server', name: 'mail' }],
        unread: 0,
      },
      expect.objectContaining({ host: 'a', governed: 0 }),
    ])
  })

  it('refuses what it does not know, by its field', async () => {
    const body = { host: 'a', items: [{ ...item('x', true), secret: 's' }], unread: [] }
    const problem = await api.refusal('reportInventory', { body })

    expect(problem.errors?.[0]?.path).toMatch(/^items\.0/)
  })
})
