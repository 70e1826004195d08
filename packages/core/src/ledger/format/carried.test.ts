import { describe, expect, test } from 'vitest'
import { CARRIED_KIND, carriedDraft, parseCarried, toCarriedEntry } from './carried.ts'
import { payloadText, ZERO_HASH } from './entry.ts'
import type { StoredEntry } from './entry.ts'
import { linkEntries } from './link.ts'

const NOW = '2026-01-01T00:00:00.000Z'
const ACTOR = { type: 'system', id: 'remit' }

const POLICY: StoredEntry = {
  org_id: 'org_acme',
  seq: 7,
  prev_hash: ZERO_HASH,
  recorded_at: '2025-06-01T00:00:00.000Z',
  kind: 'policy.created',
  commitment: ZERO_HASH,
  hash: 'a'.repeat(64),
  salt: 'b'.repeat(32),
  payload: payloadText({
    action: null,
    actor: ACTOR,
    agent_id: 'payer',
    data: { policy: { id: 'pol_1' } },
    decision: null,
    reason: null,
    resource: null,
  }),
}

/** The entry that carries another one, as the ledger has it. */
function carrying(entry: StoredEntry): StoredEntry {
  const end = { org_id: 'org_acme', size: 0, hash: ZERO_HASH, frontier: '' }
  const draft = carriedDraft(toCarriedEntry(entry)!, ACTOR)
  return linkEntries(end, [draft], NOW, () => 'c'.repeat(32)).entries[0]!.row
}

describe('a carried entry', () => {
  test('is the whole of the one that went', () => {
    const { seq, recorded_at, kind, prev_hash, hash, salt, payload } = POLICY

    expect(toCarriedEntry(POLICY)).toEqual({
      seq,
      recorded_at,
      kind,
      prev_hash,
      hash,
      salt,
      payload: JSON.parse(payload!) as unknown,
    })
    expect(carrying(POLICY).kind).toBe(CARRIED_KIND)
    expect(parseCarried(carrying(POLICY))).toEqual(toCarriedEntry(POLICY))
  })

  test('is none once it, or what it was made of, is erased', () => {
    expect(toCarriedEntry({ ...POLICY, salt: null, payload: null })).toBeNull()
    expect(parseCarried({ ...carrying(POLICY), payload: null })).toBeNull()
  })

  test('holds any entry that the ledger takes', () => {
    const end = { org_id: 'org_acme', size: 2 ** 52, hash: ZERO_HASH, frontier: 'd'.repeat(64) }
    const link = (filling: number) =>
      linkEntries(
        end,
        [{ kind: 'k'.repeat(64), actor: ACTOR, data: { x: 'ü'.repeat(filling) } }],
        NOW,
        () => 'c'.repeat(32),
      ).entries[0]!.row
    const room = 255 * 1024 - Buffer.byteLength(link(0).payload!)
    const largest = link(Math.floor(room / 2))

    expect(Buffer.byteLength(largest.payload!)).toBeGreaterThan(255 * 1024 - 2)
    expect(() => link(Math.floor(room / 2) + 1)).toThrow(/exceeds 261120 bytes/)
    expect(parseCarried(carrying(largest))?.hash).toBe(largest.hash)
  })
})
