import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { CARRIED_KIND, carriedDraft, carriedOf, NOT_CARRIED, parseCarried } from './carried.ts'
import { payloadText, ZERO_HASH } from './entry.ts'
import type { StoredEntry } from './entry.ts'
import { linkEntries } from './link.ts'

const CUT = '2026-01-01T00:00:00.000Z'
const ACTOR = { type: 'system', id: 'remit' }

const entryOf = (kind: string, data: Record<string, unknown> = {}, seq = 7): StoredEntry => ({
  org_id: 'org_acme',
  seq,
  prev_hash: ZERO_HASH,
  recorded_at: '2025-06-01T00:00:00.000Z',
  kind,
  commitment: ZERO_HASH,
  hash: 'a'.repeat(64),
  salt: 'b'.repeat(32),
  payload: payloadText({
    action: null,
    actor: ACTOR,
    agent_id: 'payer',
    data,
    decision: null,
    reason: null,
    resource: null,
  }),
})

/** The entry that carries another one, as the ledger has it. */
function carrying(entry: StoredEntry): StoredEntry {
  const end = { org_id: 'org_acme', size: 0, hash: ZERO_HASH, frontier: '' }
  const draft = carriedDraft(carriedOf(entry, CUT)!, ACTOR)
  return linkEntries(end, [draft], CUT, () => 'c'.repeat(32)).rows[0]!
}

describe('what pruning carries over', () => {
  test.each([
    'authorization.decided',
    'approval.requested',
    'approval.expired',
    'entry.appended',
    'guard.counted',
    'ledger.verified',
    'ledger.genesis',
    'scorer.ran',
    'token.exchanged',
    'token.refused',
    'credential.refused',
    'report.generated',
  ])('is not %s: it happened once', (kind) => {
    expect(carriedOf(entryOf(kind), CUT)).toBeNull()
  })

  test.each([
    'policy.created',
    'approval_rule.set',
    'permission.revoked',
    'agent.removed',
    'organization.updated',
    'key.created',
    'issuer.trusted',
    'credential.issued',
    'something.nobody_thought_of',
  ])('is %s, whole', (kind) => {
    const entry = entryOf(kind, { policy: { id: 'pol_1' } })
    const { seq, recorded_at, prev_hash, hash, salt, payload } = entry

    const found = carriedOf(entry, CUT)

    expect(found).toEqual({
      seq,
      recorded_at,
      kind,
      prev_hash,
      hash,
      salt,
      payload: JSON.parse(payload!) as unknown,
    })
  })

  test('what was erased is not', () => {
    const erased = { ...entryOf('policy.created'), salt: null, payload: null }

    expect(carriedOf(erased, CUT)).toBeNull()
    expect(parseCarried({ ...carrying(entryOf('policy.created')), payload: null })).toBeNull()
  })

  test.each([
    ['2025-12-31T23:59:59.999Z', false],
    [CUT, true],
    ['2027-01-01T00:00:00.000Z', true],
    [null, true],
  ])('a credential that ends at %s: %s', (expires_at, isCarried) => {
    const entry = entryOf('credential.issued', { credential: { id: 'cred_1', expires_at } })

    expect(carriedOf(entry, CUT) !== null).toBe(isCarried)
  })

  test('a permission that has ended is: only credentials come by the hour', () => {
    const data = { permission: { id: 'p', expires_at: '2025-07-01T00:00:00.000Z' } }

    expect(carriedOf(entryOf('permission.granted', data), CUT)).not.toBeNull()
  })

  test('what was carried before is carried as it was', () => {
    const first = carriedOf(entryOf('policy.created', { policy: { id: 'pol_1' } }), CUT)!
    const again = carrying(entryOf('policy.created', { policy: { id: 'pol_1' } }))

    expect(again.kind).toBe(CARRIED_KIND)
    expect(parseCarried(again)).toEqual(first)
    expect(carriedOf(again, CUT)).toEqual(first)
    expect(parseCarried(carrying(again))).toEqual(first)
  })

  test('any entry that the ledger takes fits into one that carries it', () => {
    const end = { org_id: 'org_acme', size: 2 ** 52, hash: ZERO_HASH, frontier: 'd'.repeat(64) }
    const link = (filling: number) =>
      linkEntries(
        end,
        [{ kind: 'k'.repeat(64), actor: ACTOR, data: { x: 'ü'.repeat(filling) } }],
        CUT,
        () => 'c'.repeat(32),
      ).rows[0]!
    const room = 255 * 1024 - Buffer.byteLength(link(0).payload!)
    const largest = link(Math.floor(room / 2))

    expect(Buffer.byteLength(largest.payload!)).toBeGreaterThan(255 * 1024 - 2)
    expect(() => link(Math.floor(room / 2) + 1)).toThrow(/larger than 261120 bytes/)
    expect(parseCarried(carrying(largest))?.hash).toBe(largest.hash)
  })

  test('docs/entry-kinds.md lists the same kinds', () => {
    const page = new URL('../../../../docs/entry-kinds.md', import.meta.url)
    const [, section = ''] = readFileSync(page, 'utf8').split('## What pruning carries over')
    const listed = section.split('\n## ')[0]!.match(/`[a-z_]+\.(?:\*|[a-z_]+)`/g) ?? []
    const kinds = listed.map((kind) => kind.slice(1, -1)).filter((kind) => kind !== CARRIED_KIND)

    expect(kinds.toSorted()).toEqual([...NOT_CARRIED].toSorted())
  })
})
