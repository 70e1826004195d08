import type { AccessDecision } from '@remit/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const ARCHIVED = "has(resource.properties.status) && resource.properties.status == 'archived'"
const ADMIN = "has(subject.properties.role) && subject.properties.role == 'admin'"
const properties = (entity: string, condition: string) =>
  `has(${entity}.properties) && (${condition})`
const archived = properties('resource', ARCHIVED)
const admin = properties('subject', ADMIN)

/** The policy that the certification scenario of AuthZEN 1.0 asks for, as rules of ours. */
const RULES = [
  { effect: 'allow', agents: ['alice', 'bob'], actions: ['read'] },
  { effect: 'allow', agents: ['alice'], actions: ['write'] },
  { effect: 'allow', actions: ['write'], condition: `${archived} && ${admin}` },
  { effect: 'deny', actions: ['write'], condition: `${archived} && !(${admin})` },
  {
    effect: 'allow',
    agents: ['alice'],
    actions: ['delete'],
    condition: 'has(action_properties.soft) && action_properties.soft == true',
  },
]

const alice = { type: 'user', id: 'alice' }
const bob = { type: 'user', id: 'bob' }
const bobAsAdmin = { ...bob, properties: { role: 'admin' } }
const first = { type: 'record', id: 'record-1' }
const second = { type: 'record', id: 'record-2', properties: { status: 'archived' } }
const act = (name: string, more: object = {}) => ({ name, ...more })
const soft = (flag: boolean) => act('delete', { properties: { soft: flag } })

const DECISIONS = [
  ['alice reads', true, alice, act('read'), first],
  ['alice writes', true, alice, act('write'), first],
  ['bob reads', true, bob, act('read'), first],
  ['bob writes', false, bob, act('write'), first],
  ['alice writes what is archived', false, alice, act('write'), second],
  ['an admin writes what is archived', true, bobAsAdmin, act('write'), second],
  ['alice deletes softly', true, alice, soft(true), first],
  ['alice deletes for good', false, alice, soft(false), first],
] as const

describe('the fixture of the AuthZEN certification', () => {
  let api: Api
  beforeAll(async () => {
    api = await createApi()
    await api.ok('changeOrganization', { body: { settings: { default_effect: 'deny' } } })
    for (const rule of RULES)
      await api.ok('createPolicy', { body: { resources: ['record:*'], ...rule } })
  })
  afterAll(() => api.remit.close())

  const single = (body: object) => api.ok('accessEvaluation', { body })
  const many = async (body: object): Promise<readonly AccessDecision[]> => {
    const answer = await api.ok('accessEvaluations', { body })
    return 'evaluations' in answer ? answer.evaluations : [answer]
  }
  const decisions = async (body: object) => (await many(body)).map(({ decision }) => decision)

  it.each(DECISIONS)('%s: %s', async (_, decision, subject, action, resource) => {
    const ask = { subject, action, resource }

    expect((await single(ask)).decision).toBe(decision)
    const context = { time: '2026-06-27T18:03-07:00', ip: '192.168.1.1' }
    expect((await single({ ...ask, context, foo: 'bar' })).decision).toBe(decision)
    // The same question has the same answer.
    expect((await single(ask)).decision).toBe(decision)
  })

  it('further properties change nothing', async () => {
    const answer = await single({
      subject: { ...alice, properties: { department: 'Sales', role: 'manager' } },
      action: act('read', { properties: { method: 'GET' } }),
      resource: { ...first, properties: { status: 'active', owner: 'bob' } },
    })

    expect(answer.decision).toBe(true)
  })

  it.each([
    [
      'one default',
      { subject: bob, resource: first },
      [{ action: act('read') }, { action: act('write') }],
      [true, false],
    ],
    [
      'a resource each',
      { subject: alice, action: act('write') },
      [{ resource: { ...first, properties: { status: 'active' } } }, { resource: second }],
      [true, false],
    ],
    [
      'a subject each',
      { action: act('write'), resource: second },
      [{ subject: alice }, { subject: bobAsAdmin }],
      [false, true],
    ],
    [
      'no defaults',
      {},
      [
        { subject: alice, action: act('read'), resource: first },
        { subject: bob, action: act('write'), resource: first },
      ],
      [true, false],
    ],
    [
      'a default for the type alone',
      { subject: alice, action: act('write'), resource: { type: 'record' } },
      [{ resource: { id: 'record-1', properties: { status: 'active' } } }, { resource: second }],
      [true, false],
    ],
    [
      'one that is wrong',
      { subject: alice, action: act('read') },
      [{ resource: first }, {}],
      [true, false],
    ],
  ])('several: %s', async (_, defaults, evaluations, expected) => {
    expect(await decisions({ ...defaults, evaluations })).toEqual(expected)
  })

  it('several, without any: the single answer', async () => {
    const ask = { subject: alice, action: act('read'), resource: first }

    expect(await decisions(ask)).toEqual([true])
    expect(await decisions({ ...ask, evaluations: [] })).toEqual([true])
  })
})
