import type { AuthorizeRequest } from '@remit/contract'
import { afterEach, describe, expect, it } from 'vitest'
import { implement } from '../http/endpoint.ts'
import { defineModule } from '../module/module.ts'
import { createClock, createTestRemit } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { authorize } from '@remit/contract'
import { recordedDecision } from './recorded.ts'
import type { Ask, ClaimedFacts, Stage } from './stage.ts'

let remit: TestRemit
afterEach(() => remit.close())

/** The input of the stages for a request, and the input that its entry restores. */
async function askedAndRecorded(request: AuthorizeRequest, claims: ClaimedFacts = {}) {
  const asks: Ask[] = []
  const policy: Stage = {
    unavailable: { reason: 'policy_error', message: 'cannot answer' },
    load: () => Promise.resolve(null),
    prepare: () => Promise.resolve(null),
    decide: (ask) => {
      asks.push(ask)
      return {
        verdict: 'deny',
        reason: 'policy_deny',
        message: 'No.',
        notes: { matched: [{ kind: 'policy', id: 'p' }] },
      }
    },
  }
  const module = defineModule({
    name: 'hand_made',
    setup: ({ decider }) => ({
      stages: { policy },
      routes: implement(authorize, {
        authorize: ({ body }, _, origin) => decider.authorize(body, origin, claims),
      }),
    }),
  })
  remit = await createTestRemit({ modules: [module], clock: createClock() })
  const { id, key } = await remit.organization()
  const response = await remit.call('POST', '/v1/authorize', { key, body: request })
  expect(response.status).toBe(200)
  const row = await remit.db
    .selectFrom('ledger_entry')
    .selectAll()
    .where('kind', '=', 'authorization.decided')
    .executeTakeFirstOrThrow()
  const recorded = recordedDecision(id, Date.parse(row.recorded_at), row.payload ?? '')
  return { asked: asks[0], recorded, payload: row.payload ?? '' }
}

const BASE = { agent_id: 'a', action: 'b.c' }

describe('recordedDecision', () => {
  it.each<[string, AuthorizeRequest, ClaimedFacts?]>([
    ['nothing more', { ...BASE, context: {} }],
    ['a context', { ...BASE, context: { amount: 1.5, list: [null, { a: 'é' }] } }],
    [
      'a context with replaced places',
      { ...BASE, context: { args: { memo: { sha256: 'aa' } } }, replaced: ['/args/memo'] },
    ],
    ['a resource as text', { ...BASE, context: {}, resource: 'doc:1:2' }],
    ['a resource without a type', { ...BASE, context: {}, resource: 'doc' }],
    ['an odd resource', { ...BASE, context: {}, resource: ':' }],
    [
      'a resource with properties',
      { ...BASE, context: {}, resource: { type: 'doc', id: '1:2', properties: { owner: 'ada' } } },
    ],
    [
      'no properties at all',
      { ...BASE, context: {}, resource: { type: 'doc', id: '1', properties: {} } },
    ],
    ['a type with a colon', { ...BASE, context: {}, resource: { type: 'urn:doc', id: '1:2' } }],
    [
      'both',
      { ...BASE, context: {}, resource: { type: 'urn:doc', id: '1', properties: { a: [1] } } },
    ],
    [
      'claims',
      { ...BASE, context: {} },
      { subject: { type: 'user', id: 'ada' }, actionProperties: { dry: true } },
    ],
  ])('gives back what the stages were asked: %s', async (_, request, claims) => {
    const { asked, recorded } = await askedAndRecorded(request, claims)

    expect(recorded).toEqual({
      ask: { ...asked, caller: null },
      decision: 'deny',
      reason: 'policy_deny',
      matched: [{ kind: 'policy', id: 'p' }],
    })
  })

  it('takes a type and an id for the text that conditions see the same in', async () => {
    const resource = { type: 'doc', id: '1:2' }

    const { recorded, payload } = await askedAndRecorded({ ...BASE, resource })

    expect(recorded?.ask.request).toEqual({ ...BASE, context: {}, resource: 'doc:1:2' })
    expect(payload).not.toContain('resource_type')
  })

  it('is null for a text that no decision has, whatever is wrong with it', async () => {
    const { payload } = await askedAndRecorded({ ...BASE, resource: 'doc:1' })
    const entry = JSON.parse(payload) as { data: Record<string, unknown> }
    const texts = ['', '{', 'null', '[]', '"x"', '{}', '{"data":null}']
    for (const name of ['agent_id', 'action', 'resource', 'decision', 'reason', 'data'])
      texts.push(JSON.stringify({ ...entry, [name]: 7 }))
    // The reason of an allow explains no denial.
    for (const reason of ['default_allow', 'approved', 'approval_required'])
      texts.push(JSON.stringify({ ...entry, reason }))
    for (const replaced of [7, null, [7], '/a', ['x'.repeat(2_000)]])
      texts.push(JSON.stringify({ ...entry, data: { ...entry.data, replaced } }))
    for (const name of ['context', 'matched', 'plan', 'decision_id'])
      for (const value of [undefined, 7, null, [7]])
        texts.push(JSON.stringify({ ...entry, data: { ...entry.data, [name]: value } }))

    for (const text of texts) expect(recordedDecision('org', 0, text), text).toBeNull()
    expect(recordedDecision('org', 0, payload)).not.toBeNull()
    const newer = JSON.stringify({ ...entry, reason: 'action_forbidden' })
    expect(recordedDecision('org', 0, newer)).toMatchObject({ reason: 'action_forbidden' })
  })
})
