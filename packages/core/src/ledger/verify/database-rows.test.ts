import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LedgerEntryRow } from '../../db/schema.ts'
import { payloadText } from '../format/entry.ts'
import { oddColumn, wrongCopy } from './database-rows.ts'

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  // Text that looks like the end of one member and the beginning of another.
  fc.constantFrom(
    '"',
    '\\',
    'null',
    '"},"agent_id":"x","data":{',
    ',"decision":"allow","reason":null',
  ),
)
const optional = fc.option(text)
const payload = fc.record({
  action: optional,
  actor: fc.record({ id: text, type: text }),
  agent_id: optional,
  data: fc.dictionary(
    fc.constantFrom('action', 'actor', 'agent_id', 'decision', 'reason', 'resource', 'other'),
    fc.oneof(
      text,
      fc.constant(null),
      fc.dictionary(fc.constantFrom('decision', 'reason', 'resource'), text),
    ),
  ),
  decision: optional,
  reason: optional,
  resource: optional,
})

const rowOf = (
  content: typeof payload extends fc.Arbitrary<infer P> ? P : never,
): LedgerEntryRow => ({
  org_id: 'org_1',
  seq: 0,
  prev_hash: '',
  hash: '',
  recorded_at: '',
  kind: 'entry.appended',
  commitment: '',
  salt: '',
  payload: payloadText(content),
  agent_id: content.agent_id,
  actor_id: content.actor.id,
  action: content.action,
  decision: content.decision,
})

describe('index copies', () => {
  test('agree with every payload they were taken from', () => {
    fc.assert(fc.property(payload, (content) => wrongCopy(rowOf(content)) === null))
  })

  test.each(['agent_id', 'actor_id', 'action', 'decision'] as const)(
    '%s is found wrong whatever the payload says elsewhere',
    (column) => {
      fc.assert(
        fc.property(payload, optional, (content, other) => {
          const row = rowOf(content)
          fc.pre(row[column] !== other)
          expect(wrongCopy({ ...row, [column]: other })).toBe(column)
        }),
      )
    },
  )

  test('are not taken for what they would be inside of the data', () => {
    const inner = { action: 'b', actor: { id: 'c', type: 't' }, agent_id: 'd', data: {} }
    const truth = rowOf({
      action: 'a',
      actor: { id: 'x', type: 't' },
      agent_id: null,
      data: inner,
      decision: null,
      reason: null,
      resource: null,
    })
    const upToInner = truth.payload!.slice(
      '{"action":"'.length,
      truth.payload!.indexOf('b","actor"') + 1,
    )

    expect(wrongCopy(truth)).toBeNull()
    const forged = { ...truth, action: upToInner, actor_id: 'c', agent_id: 'd' }
    expect(wrongCopy(forged)).toBe('agent_id')
    const escaped = rowOf({ ...JSON.parse(truth.payload!), action: 'a\\' })
    expect(wrongCopy({ ...escaped, action: 'a\\\\' })).toBe('action')
  })

  test('do not agree with a decision that only the data has', () => {
    const without =
      '{"action":null,"actor":{"id":"x","type":"t"},"agent_id":null,"data":{"a":1,"decision":"allow","reason":null,"resource":null}}'
    const row = rowOf({
      action: null,
      actor: { id: 'x', type: 't' },
      agent_id: null,
      data: {},
      decision: 'allow',
      reason: null,
      resource: null,
    })

    expect(wrongCopy({ ...row, payload: without })).toBe('decision')
  })

  test('of a payload that is no JSON object agree with nothing', () => {
    const row = rowOf({
      action: null,
      actor: { id: '', type: '' },
      agent_id: null,
      data: {},
      decision: null,
      reason: null,
      resource: null,
    })

    for (const content of ['', '{', 'null', '[]', '{"actor":null}']) {
      expect(wrongCopy({ ...row, payload: content }), content).not.toBeNull()
    }
  })
})

test('a column with a value of another type is named', () => {
  const row = rowOf({
    action: 'a',
    actor: { id: 'a', type: 'b' },
    agent_id: null,
    data: {},
    decision: null,
    reason: null,
    resource: null,
  })

  expect(oddColumn(row)).toBeNull()
  for (const column of Object.keys(row) as (keyof LedgerEntryRow)[]) {
    const odd = { ...row, [column]: Buffer.from('0') }
    expect(oddColumn(odd)).toBe(column)
  }
})
