import { ENTRIES, rowOf } from '@remit/contract/entries'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { live } from './life.ts'
import type { Life } from './life.ts'

describe.skipIf(!hasModules())('entries of a driven server', () => {
  let life: Life
  beforeAll(async () => {
    life = await live()
  }, 300_000)
  afterAll(() => life.close())

  it('have the shapes of the catalogue', () => {
    for (const { kind, seq, data } of life.entries) {
      const row = rowOf(kind)
      expect(row?.data.safeParse(data).error?.issues ?? [], `${seq} ${kind}`).toEqual([])
      expect(row, kind).toBeDefined()
    }
  })

  it('are of every kind but those that a test of their own has', () => {
    const seen = new Set(life.entries.map(({ kind }) => kind))
    expect(
      Object.keys(ENTRIES)
        .filter((kind) => !seen.has(kind))
        .toSorted(),
    ).toEqual([
      'guard.counted',
      'identity.impersonation.refused',
      'issuer.fetch_failed',
      'ledger.erased',
      'ledger.heartbeat',
      'ledger.key_rotated',
      'ledger.pruned',
      'ledger.recovered',
      'organization.deleted',
      'person.sign_in_refused',
      'person.signed_in',
      'person.signed_out',
      'policy_set.applied',
      'policy_set.drifted',
      'policy_set.locked',
      'policy_set.removed',
      'quota.threshold',
      'report.generated',
      'spend.rebuilt',
      'state.carried',
      'webhook.disabled',
      'witness.set',
    ])
  })

  it('hold whole objects: what is changed is there as the API shows it', async () => {
    const of = (kind: string) => life.entries.find((entry) => entry.kind === kind)?.data ?? {}
    const { organization } = of('organization.created') as { organization: object }
    // A count is no part of what an entry keeps.
    const { ledger: _, decisions_this_month: __, ...shown } = await life.api.ok('getOrganization')

    expect(Object.keys(organization).toSorted()).toEqual(Object.keys(shown).toSorted())
    const { key } = of('key.created') as { key: object }
    const { data: keys } = await life.api.ok('listKeys')
    expect(keys).toContainEqual(key)
    expect(of('key.revoked')).toMatchObject({
      key: { role: 'read', revoked_at: expect.any(String) },
    })
    expect(of('spend_limit.removed')).toMatchObject({ spend_limit: { daily_usd: 10 } })
    expect(of('token.exchanged')).toMatchObject({
      scopes: ['authorize'],
      expires_at: expect.any(String),
    })
  })

  it('name the person of the key that made the change', () => {
    for (const kind of [
      'policy.created',
      'policy.deleted',
      'agent.updated',
      'credential.revoked',
    ]) {
      const entry = life.entries.find((one) => one.kind === kind)
      expect(entry?.data, kind).toMatchObject({ person: 'ada@example.org' })
    }
  })
})
