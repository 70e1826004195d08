import { bulkInsert } from '@remit/core/db'
import { someDialects } from '@remit/testing'
import { describe, expect, it } from 'vitest'
import { MAX_AGENTS } from '../src/agents/changes.ts'
import { createApi, OWNERS, register } from './support/api.ts'

const COLUMNS = {
  org_id: 'text',
  agent_id: 'text',
  status: 'text',
  owners: 'text',
  labels: 'text',
  allowed_scopes: 'text',
  issuers: 'text',
  created_at: 'text',
  created_by: 'text',
  updated_at: 'text',
  version: 'bigint',
  revision: 'bigint',
} as const

describe.each(someDialects())('the most agents of an organization on %s', (dialect) => {
  it('409 for one more; a removed one makes room', { timeout: 300_000 }, async () => {
    const api = await createApi({ dialect })
    await register(api, 'first')
    const at = '2026-11-20T08:00:00.000Z'
    const rows = Array.from({ length: MAX_AGENTS - 1 }, (_, i) => ({
      org_id: api.org.id,
      agent_id: `agent-${i}`,
      status: 'active',
      owners: '[]',
      labels: '{}',
      allowed_scopes: '[]',
      issuers: '[]',
      created_at: at,
      created_by: 'test',
      updated_at: at,
      version: 1,
      revision: 0,
    }))
    await api.remit.db.transaction().execute((tx) => bulkInsert(tx, 'agent', COLUMNS, rows))
    const one = () => api.call('registerAgent', { body: { owners: OWNERS } })

    expect(await (await one()).json()).toMatchObject({ code: 'too_many_agents' })
    await api.ok('removeAgent', { params: { agentID: 'first' } })

    expect((await one()).status).toBe(201)
    await api.remit.close()
  })
})
