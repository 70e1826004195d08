import type { Entry } from '@remit/contract'
import { ENTRIES } from '@remit/contract/entries'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { FORMATS } from '../../src/sinks/formats/formats.ts'
import { ECS_SCHEMA } from '../support/ecs-schema.ts'
import { API_ACTIVITY_SCHEMA, ENTITY_MANAGEMENT_SCHEMA } from '../support/ocsf-schema.ts'
import { createApi } from '../support/api.ts'
import { append } from '../support/sinks.ts'

const ajv = new Ajv({ allErrors: true, strict: false })
const ocsf: Readonly<Record<number, ReturnType<typeof ajv.compile>>> = {
  3004: ajv.compile(ENTITY_MANAGEMENT_SCHEMA),
  6003: ajv.compile(API_ACTIVITY_SCHEMA),
}
const ecs = ajv.compile(ECS_SCHEMA)

const ledger = { orgId: 'org_1', origin: 'remit.example.com/ledger/org_1/led_1' }
const HASH = 'a'.repeat(64)

const entry: Entry = {
  seq: 7,
  kind: 'authorization.decided',
  recorded_at: '2026-11-20T08:00:00.123Z',
  actor: { type: 'key', id: 'key_1' },
  agent_id: 'payer',
  action: 'payments.transfer',
  resource: 'account:42',
  decision: 'deny',
  reason: 'policy_deny',
  data: { decision_id: 'dec_1', context: { amount_usd: 5 }, trace_id: 'b'.repeat(32) },
  commitment: HASH,
  salt: 'c'.repeat(32),
  prev_hash: 'd'.repeat(64),
  hash: HASH,
}

const variants = (kind: string): Entry[] => [
  { ...entry, kind },
  { ...entry, kind, decision: 'allow', reason: null },
  { ...entry, kind, decision: 'needs_approval' },
  {
    ...entry,
    kind,
    seq: 0,
    agent_id: null,
    action: null,
    resource: null,
    decision: null,
    reason: null,
  },
  // An erased entry has nothing but its header.
  {
    ...entry,
    kind,
    actor: null,
    agent_id: null,
    action: null,
    resource: null,
    decision: null,
    reason: null,
    data: null,
    salt: null,
  },
]

function faultsOf(given: Entry): unknown[] {
  const event = FORMATS.ocsf(given, ledger)
  const isOcsf = ocsf[event['class_uid'] as number]
  if (!isOcsf) return [`class ${String(event['class_uid'])}`]
  const faults = isOcsf(event) ? [] : [{ ocsf: isOcsf.errors, event }]
  const document = FORMATS.ecs(given, ledger)
  return ecs(document) ? faults : [...faults, { ecs: ecs.errors, document }]
}

describe('OCSF and ECS documents', () => {
  it.each(Object.keys(ENTRIES))('of %s are valid, whatever the entry holds', (kind) => {
    expect(variants(kind).flatMap(faultsOf)).toEqual([])
  })

  it('of entries of a living ledger are valid', async () => {
    const api = await createApi()
    await append(api, 2)
    await api.ok('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 0 } })
    await api.ok('createPolicy', { body: { effect: 'deny', actions: ['b.*'] } })
    await api.ok('authorize', {
      body: { agent_id: 'payer', action: 'a.b', context: { amount_usd: 1 } },
    })
    await api.ok('authorize', { body: { agent_id: 'other', action: 'a.b' } })
    await api.ok('createKey', { body: { role: 'read' } })
    const { data } = await api.ok('listEntries', { query: { limit: '1000' } })

    expect(data.length).toBeGreaterThan(8)
    expect(data.flatMap(faultsOf)).toEqual([])
    await api.remit.close()
  })

  it('the schemas refuse a wrong name, a missing attribute and a wrong value', () => {
    const event = FORMATS.ocsf(entry, ledger)
    const document = FORMATS.ecs(entry, ledger)
    const { actor: _, ...anonymous } = event

    expect(ocsf[6003]?.({ ...event, sevrity: 1 })).toBe(false)
    expect(ocsf[6003]?.(anonymous)).toBe(false)
    expect(
      ocsf[6003]?.({ ...event, metadata: { ...(event['metadata'] as object), profiles: [] } }),
    ).toBe(false)
    expect(ecs({ ...document, agent_id: 'payer' })).toBe(false)
    expect(
      ecs({ ...document, event: { ...(document['event'] as object), category: ['iam'] } }),
    ).toBe(false)
  })

  it('carry the decision, the agent and the chain of hashes', () => {
    expect(FORMATS.ocsf(entry, ledger)).toMatchObject({
      type_uid: 600399,
      status_id: 2,
      action: 'Denied',
      ai_agent: { uid: 'payer' },
      api: { operation: 'payments.transfer' },
      attestation: {
        chain_uid: ledger.origin,
        fingerprint: { value: entry.hash },
        prev_event: { uid: 'org_1:6', fingerprint: { value: entry.prev_hash } },
      },
    })
    expect(FORMATS.ecs(entry, ledger)).toMatchObject({
      event: {
        category: ['api'],
        type: ['denied'],
        outcome: 'failure',
        sequence: 7,
        hash: entry.hash,
      },
      remit: { agent_id: 'payer', prev_hash: entry.prev_hash },
    })
  })
})
