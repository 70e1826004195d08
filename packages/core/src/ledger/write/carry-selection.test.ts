import { describe, expect, test } from 'vitest'
import { CARRIED_KIND, carriedDraft, toCarriedEntry, toCarriedHeader } from '../format/carried.ts'
import { CarrySelection } from './carry-selection.ts'
import { payloadText, ZERO_HASH } from '../format/entry.ts'
import type { EntryPayload, StoredEntry } from '../format/entry.ts'
import { linkEntries } from '../format/link.ts'

const CUT = '2026-01-01T00:00:00.000Z'
const ACTOR = { type: 'system', id: 'remit' }

type Said = Partial<EntryPayload>

const entryOf = (kind: string, said: Said = {}, seq = 7): StoredEntry => ({
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
    data: {},
    decision: null,
    reason: null,
    resource: null,
    ...said,
  }),
})

/** The entry that carries another one, as the ledger has it. */
function carrying(entry: StoredEntry): StoredEntry {
  const end = { org_id: 'org_acme', size: 0, hash: ZERO_HASH, frontier: '' }
  const draft = carriedDraft(toCarriedEntry(entry) ?? toCarriedHeader(entry), ACTOR)
  return linkEntries(end, [draft], CUT, () => 'c'.repeat(32)).entries[0]!.row
}

/** Sequence numbers of the carried entries; `kept` are above the cut already. */
function carriedOf(entries: readonly StoredEntry[], kept: readonly StoredEntry[] = []): number[] {
  const found = new CarrySelection(CUT)
  for (const entry of kept) found.keep(toCarriedEntry(entry)!)
  const atOnce = entries.flatMap((entry) => found.add(entry) ?? [])
  return [...atOnce, ...found.rest()].map(({ seq }) => seq).toSorted((a, b) => a - b)
}

const isCarried = (entry: StoredEntry): boolean => carriedOf([entry]).length === 1

describe('what pruning carries over', () => {
  test.each([
    'authorization.decided',
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
    'person.signed_out',
    'person.sign_in_refused',
    'quota.threshold',
    'webhook.tested',
  ])('is not %s: it happened once', (kind) => {
    expect(isCarried(entryOf(kind))).toBe(false)
  })

  test.each([
    'policy.created',
    'approval_rule.set',
    'permission.revoked',
    'agent.removed',
    'organization.updated',
    'key.created',
    'person.invited',
    'webhook.disabled',
    'issuer.trusted',
    'credential.issued',
    'something.nobody_thought_of',
  ])('is %s, whole and at once', (kind) => {
    const entry = entryOf(kind, { data: { policy: { id: 'pol_1' } } })

    expect(new CarrySelection(CUT).add(entry)).toEqual(toCarriedEntry(entry))
  })

  test('of what was erased the header is, unless its erasure has carried it or it only happened', () => {
    const gone = { salt: null, payload: null }
    const entry = { ...entryOf('policy.created'), ...gone }

    expect(new CarrySelection(CUT).add(entry)).toEqual(toCarriedHeader(entry))
    expect(new CarrySelection(CUT).add(carrying(entry))).toEqual(toCarriedHeader(entry))
    expect(isCarried({ ...carrying(entryOf('policy.created')), ...gone })).toBe(false)
    for (const kind of ['entry.appended', 'policy.dry_run', 'approval.requested'])
      expect(isCarried({ ...entryOf(kind), ...gone })).toBe(false)
  })

  test.each([
    ['2025-12-31T23:59:59.999Z', false],
    [CUT, true],
    ['2027-01-01T00:00:00.000Z', true],
    [null, true],
  ])('a credential that ends at %s: %s', (expires_at, is) => {
    const data = { credential: { id: 'cred_1', expires_at } }

    expect(isCarried(entryOf('credential.issued', { data }))).toBe(is)
  })

  test('a rotation is, though the new credential has ended: the old one ends by it', () => {
    const data = {
      credential: { id: 'cred_2', expires_at: '2025-07-01T00:00:00.000Z' },
      rotated_from: { id: 'cred_1', expires_at: '2025-06-02T00:00:00.000Z' },
    }

    expect(isCarried(entryOf('credential.rotated', { data }))).toBe(true)
  })

  test('a permission that has ended is: only credentials come by the hour', () => {
    const data = { permission: { id: 'p', expires_at: '2025-07-01T00:00:00.000Z' } }

    expect(isCarried(entryOf('permission.granted', { data }))).toBe(true)
  })

  test.each(['policy.dry_run', 'ledger.heartbeat'])('of %s the last is', (kind) => {
    const earlier = carrying(entryOf(kind, {}, 3))
    const all = [earlier, entryOf(kind, {}, 11), entryOf(kind, {}, 12), entryOf('ledger.erased')]

    expect(carriedOf([earlier])).toEqual([3])
    expect(carriedOf(all)).toEqual([12])
  })

  test('what was carried before is carried as it was', () => {
    const entry = entryOf('policy.created', { data: { policy: { id: 'pol_1' } } })
    const again = carrying(entry)

    expect(again.kind).toBe(CARRIED_KIND)
    expect(new CarrySelection(CUT).add(again)).toEqual(toCarriedEntry(entry))
  })
})

const approval = (seq: number, kind: string, id = 'apr_1', status = 'pending'): StoredEntry =>
  entryOf(`approval.${kind}`, { data: { approval: { id, status } } }, seq)

/** A decision that asks for the approval, and policies that let it come so far. */
const asking = (seq: number, matched: readonly string[], id = 'apr_1'): StoredEntry =>
  entryOf(
    'authorization.decided',
    {
      decision: 'needs_approval',
      data: {
        approval: { id, status: 'pending' },
        matched: matched.map((kind) => ({ id: 'one', kind })),
      },
    },
    seq,
  )

const REQUESTED = approval(10, 'requested')
const VOTED = approval(20, 'voted')
const APPROVED = approval(30, 'decided', 'apr_1', 'approved')

describe('of requests for approval', () => {
  test('one that nothing closes is carried whole, whatever it waits for', () => {
    expect(carriedOf([REQUESTED])).toEqual([10])
    expect(carriedOf([REQUESTED, VOTED])).toEqual([10, 20])
    expect(carriedOf([REQUESTED, VOTED, APPROVED])).toEqual([10, 20, 30])
  })

  test.each([
    ['consumed', 'consumed'],
    ['expired', 'expired'],
    ['cancelled', 'cancelled'],
    ['revoked', 'revoked'],
    ['decided', 'rejected'],
  ])('nothing is, once it is %s (%s); of others it is', (kind, status) => {
    const closed = approval(40, kind, 'apr_1', status)
    const other = approval(25, 'requested', 'apr_2')

    expect(carriedOf([REQUESTED, VOTED, other, closed])).toEqual([25])
  })

  test('the last decision is that tells of policies behind it, and no other', () => {
    const decisions = [
      asking(9, ['policy', 'approval_rule']),
      asking(11, ['approval_rule', 'policy']),
      asking(12, ['approval_rule']),
      entryOf('authorization.decided', { decision: 'allow', data: { approval: { id: 'apr_1' } } }),
      asking(13, ['policy'], 'apr_2'),
    ]
    const closed = approval(40, 'cancelled', 'apr_2', 'cancelled')

    expect(carriedOf([REQUESTED, ...decisions, closed])).toEqual([10, 11])
  })

  test('what was erased is not carried, and closes nothing', () => {
    const gone = { salt: null, payload: null }
    const consumed = approval(40, 'consumed', 'apr_1', 'consumed')

    expect(carriedOf([{ ...REQUESTED, ...gone }, VOTED])).toEqual([20])
    expect(carriedOf([REQUESTED, { ...consumed, ...gone }])).toEqual([10])
  })

  test('one that was carried before is closed by what came later, and carried on until then', () => {
    const before = [carrying(REQUESTED), carrying(VOTED)]

    expect(carriedOf([...before, APPROVED])).toEqual([10, 20, 30])
    expect(carriedOf([...before, approval(40, 'expired', 'apr_1', 'expired')])).toEqual([])
  })

  test('one that was closed stays so, in whichever order prunings carried what tells of it', () => {
    const consumed = approval(40, 'consumed', 'apr_1', 'consumed')

    expect(carriedOf([carrying(consumed), carrying(REQUESTED), VOTED])).toEqual([])
    expect(carriedOf([carrying(REQUESTED), carrying(consumed), REQUESTED])).toEqual([])
    expect(carriedOf([carrying(REQUESTED)], [consumed])).toEqual([])
  })

  test('of one that stays above the cut what closes it stays, and nothing else of its kind', () => {
    const consumed = approval(40, 'consumed', 'apr_1', 'consumed')
    const other = [approval(25, 'requested', 'apr_2'), approval(41, 'expired', 'apr_2', 'expired')]

    expect(carriedOf([APPROVED, ...other, consumed], [REQUESTED])).toEqual([40])
  })
})
