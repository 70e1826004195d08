import { describe, expect, test } from 'vitest'
import {
  commitmentOf,
  entryHash,
  headerFault,
  headerOf,
  isSalt,
  newSalt,
  payloadText,
  ZERO_HASH,
} from './entry.ts'
import type { EntryHeader } from './entry.ts'
import { MerkleTree } from './merkle.ts'

// The worked example of the format: org, payload, kind, time -> commitment and hash.
const EXAMPLE = [
  {
    payload: '{"format":"ledger-entry/v1","ledger_id":"led_01","org_id":"org_acme"}',
    kind: 'ledger.genesis',
    recorded_at: '2026-11-20T08:00:00.000Z',
    commitment: '7ecc1a708ce003f46f623b6bd9ed8ed0f45b82ad8f75ffa2109b72ad6d5717a0',
    hash: 'f659c9499a3e7906a7c5fdafd2929f793e2fb8d3c3ed96571112453bcbc928cb',
  },
  {
    payload:
      '{"action":"payments.transfer","agent_id":"agt_1","context":{"amount_usd":"1250.00","vendor":"Müller"},"decision":"allow"}',
    kind: 'authz.decision',
    recorded_at: '2026-11-20T08:00:01.250Z',
    commitment: 'e02be017e23491527dc52842942e96c7066266e131a003eca2df1822a7439e4a',
    hash: '3b7d5248028cbe72c3e3da3f1dc047b4058ff44563ccce7a0a4c7210946c7878',
  },
  {
    payload: '{"action":"email.send","agent_id":"agt_2","context":{},"decision":"deny"}',
    kind: 'authz.decision',
    recorded_at: '2026-11-20T08:00:01.250Z',
    commitment: '3c9f3f9adc5fe3f3809615a4b94d2cdbc0b315cb69da2899c956db32220c3320',
    hash: '8190a2aeebb8a619e2c4ae4121ffcbf5ff52822de25dc50efc4c47652d80a032',
  },
]

test('three entries have the commitments, hashes and root that the format promises', () => {
  const tree = new MerkleTree()
  let prevHash = ZERO_HASH

  for (const [seq, entry] of EXAMPLE.entries()) {
    const salt = `${seq}${seq}`.repeat(16)
    const commitment = commitmentOf(salt, entry.payload)
    const header = headerOf({ ...entry, org_id: 'org_acme', seq, prev_hash: prevHash, commitment })
    prevHash = entryHash(header)
    tree.append(prevHash)

    expect(commitment).toBe(entry.commitment)
    expect(prevHash).toBe(entry.hash)
  }

  expect(tree.root()).toBe('5f9aec79fc3271a939156dd6f489b69430547ca9bce5c620bd11ae514d2dff44')
})

test('a payload is stored as its canonical text', () => {
  const text = payloadText({
    resource: null,
    reason: 'default_allow',
    decision: 'allow',
    data: { z: 1, a: 'Müller' },
    agent_id: 'agt_1',
    actor: { type: 'agent', id: 'agt_1' },
    action: 'payments.transfer',
  })

  expect(text).toBe(
    '{"action":"payments.transfer","actor":{"id":"agt_1","type":"agent"},"agent_id":"agt_1","data":{"a":"Müller","z":1},"decision":"allow","reason":"default_allow","resource":null}',
  )
})

describe('the alphabets that make the header parse one way only', () => {
  const good: EntryHeader = {
    org_id: 'org_acme-1',
    seq: 7,
    prev_hash: ZERO_HASH,
    recorded_at: '2026-11-20T08:00:00.000Z',
    kind: 'authorization.decided',
    commitment: 'a'.repeat(64),
  }

  test('a proper header has no fault', () => {
    expect(headerFault(good)).toBeNull()
  })

  test.each<[keyof EntryHeader, unknown]>([
    ['org_id', ''],
    ['org_id', 'Org'],
    ['org_id', 'org\n1'],
    ['org_id', 'org\n'],
    ['org_id', 'o'.repeat(65)],
    ['seq', -1],
    ['seq', 1.5],
    ['seq', 2 ** 53],
    ['seq', '7'],
    ['prev_hash', 'A'.repeat(64)],
    ['prev_hash', '0'.repeat(63)],
    ['recorded_at', '2026-11-20T08:00:00Z'],
    ['recorded_at', '2026-11-20T08:00:00.000+00:00'],
    ['recorded_at', '2026-13-20T08:00:00.000Z'],
    ['recorded_at', '2026-11-20T24:00:00.000Z'],
    ['recorded_at', '2026-11-20T08:00:00.000Z\n'],
    ['kind', 'Kind'],
    ['kind', 'a b'],
    ['commitment', null],
  ])('%s = %j is outside', (field, value) => {
    expect(headerFault({ ...good, [field]: value })).toBe(field)
  })
})

describe('salts', () => {
  test('are 128 random bits each, never the same, across many refills of the pool', () => {
    const salts = Array.from({ length: 10_000 }, newSalt)

    expect(new Set(salts).size).toBe(10_000)
    expect(salts.every(isSalt)).toBe(true)
  })

  test('hide a guessable payload: the same text never commits to the same hash', () => {
    const payload = '{"decision":"deny"}'

    expect(commitmentOf(newSalt(), payload)).not.toBe(commitmentOf(newSalt(), payload))
  })
})
