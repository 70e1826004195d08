import { dialectOf } from '@remit/core/db'
import { verifyExport } from '@remit/core/ledger/records'
import { generateOperatorKey, operatorKeyLine } from '@remit/core/server'
import { createClock, someDialects } from '@remit/testing'
import type { Api, CallOptions } from '@remit/testing'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { createEnterprise, OWNERS, register } from './identity/support.ts'

/** No entry can be written, as if a disk or a partition were broken. */
async function withoutRecords(api: Api, run: () => Promise<void>): Promise<void> {
  const { db } = api.remit
  const [create, drop] =
    dialectOf(db) === 'postgres'
      ? [
          `create function broken() returns trigger language plpgsql as $$ begin
             raise exception 'broken' using errcode = 'XX001'; end $$;
           create trigger broken before insert on ledger_entry execute function broken()`,
          'drop trigger broken on ledger_entry; drop function broken()',
        ]
      : [
          `create trigger broken before insert on ledger_entry begin select raise(abort, 'broken'); end`,
          'drop trigger broken',
        ]
  await sql.raw(create).execute(db)
  try {
    await run()
  } finally {
    await sql.raw(drop).execute(db)
  }
}

const operatorKey = generateOperatorKey()
const [, hash = ''] = operatorKeyLine('ada', operatorKey).split(' ')

type Call = readonly [Parameters<Api['call']>[0], CallOptions]

const CHANGES: readonly Call[] = [
  ['createPolicy', { body: { effect: 'deny' } }],
  ['setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 1 } }],
  ['removeSpendLimit', { params: { id: 'payer' } }],
  ['setApprovalRule', { params: { id: 'large' }, body: { actions: ['pay.large'] } }],
  ['grantPermission', { params: { id: 'root' }, body: { agent_id: 'first', actions: ['a.b'] } }],
  ['registerAgent', { body: { agent_id: 'second', owners: OWNERS } }],
  ['issueCredential', { params: { agentID: 'first' }, body: { scopes: ['authorize'] } }],
  ['createKey', { body: { role: 'read' } }],
  ['changeOrganization', { body: { settings: { consequential_actions: ['pay.*'] } } }],
]

// The community edition has nothing to change.
describe.skipIf(!hasModules()).each(someDialects())('what cannot be recorded, on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createEnterprise({ dialect, operatorKeys: new Map([[hash, 'ada']]) })
    await register(api, 'first')
    await api.ok('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 100 } })
  })
  afterAll(() => api.remit.close())

  test.each(CHANGES)('%s: 503 ledger_unavailable, and nothing happened', async (name, options) => {
    const before = await api.remit.ledger.head(api.org.id)

    await withoutRecords(api, async () => {
      expect((await api.refusal(name, options)).code).toBe('ledger_unavailable')
    })

    expect(await api.remit.ledger.head(api.org.id)).toEqual(before)
    expect((await api.ok('getSpendLimit', { params: { id: 'payer' } })).daily_usd).toBe(100)
  })

  test('a new organization: 503 ledger_unavailable, and there is none', async () => {
    const create = () =>
      api.remit.call('POST', '/v1/operator/organizations', {
        key: operatorKey,
        body: { name: 'unrecorded' },
      })

    await withoutRecords(api, async () => {
      const response = await create()
      expect([response.status, await response.json()]).toMatchObject([
        503,
        { code: 'ledger_unavailable' },
      ])
    })

    expect((await create()).status).toBe(201)
  })
})

describe.skipIf(!hasModules()).each(someDialects())(
  'a ledger without a head row, on %s',
  (dialect) => {
    let api: Api
    beforeAll(async () => {
      const clock = createClock()
      api = await createEnterprise({ dialect, clock })
      await api.ok('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 100 } })
      // The first commit of a minute stores its checkpoint.
      clock.advance(60_000)
      await api.ok('authorize', { body: { agent_id: 'payer', action: 'a.b' } })
      await api.ok('authorize', { body: { agent_id: 'payer', action: 'a.b' } })
    })
    afterAll(() => api.remit.close())

    test('decides and changes nothing: 503; its entries stay readable', async () => {
      const before = await api.ok('listEntries')
      const [cookie = ''] = (
        await api.remit.call('POST', '/v1/session', {
          body: { key: api.org.key },
          headers: { 'sec-fetch-site': 'same-origin' },
        })
      ).headers.getSetCookie()
      await api.remit.db.deleteFrom('ledger_head').where('org_id', '=', api.org.id).execute()

      const refusals = await Promise.all([
        api.refusal('authorize', { body: { agent_id: 'payer', action: 'a.b' } }),
        api.refusal('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 1 } }),
        api.refusal('getCheckpoint'),
      ])

      expect(refusals.map(({ code }) => code)).toEqual(Array(3).fill('ledger_unavailable'))
      expect(refusals[0]?.detail).toMatch(/no ledger head/)
      expect(await api.ok('listEntries')).toEqual(before)
      const seen = await api.remit.call('GET', '/v1/ledger', { headers: { cookie } })
      expect([seen.status, await seen.json()]).toEqual([200, before])
      expect((await api.ok('getEntry', { params: { seq: 0 } })).kind).toBe('ledger.genesis')
      expect(await api.ok('getProof', { params: { seq: 4 } })).toContain('\n5\n')
      expect((await api.refusal('getProof', { params: { seq: 5 } })).code).toBe(
        'ledger_unavailable',
      )
      const sizes = { from: 1, to: before.head.seq + 1 }
      expect(await api.ok('getConsistency', { query: sizes })).toMatchObject(sizes)
      for (const name of ['streamEntries', 'streamApprovals', 'listSinks'] as const) {
        const response = await api.call(name)
        expect([name, response.status]).toEqual([name, 200])
        await response.body?.cancel()
      }
      const exported = await verifyExport((await api.ok('exportEntries')).trimEnd().split('\n'))
      expect(exported).toMatchObject({ status: 'ok', checked: { entries: 5 } })
      const found = await api.ok('verifyLedger', { body: {} })
      expect(found).toMatchObject({ valid: false, recorded: false })
      expect(found.errors.map(({ code }) => code)).toContain('head_missing')
    })
  },
)
