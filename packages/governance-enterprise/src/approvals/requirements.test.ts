import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { NOT_READ } from './holders.ts'
import { covers, isSameVoter, objection, outcomeOf } from './requirements.ts'
import type { Requirement, ApprovalVote } from './requirements.ts'

interface Case {
  readonly name: string
  readonly rules: readonly (Partial<Requirement> & { users?: string[]; roles?: string[] })[]
  readonly votes: readonly string[]
  readonly is: string
}

const table = JSON.parse(
  readFileSync(new URL('requirements.json', import.meta.url), 'utf8'),
) as Case[]

const PARTIES = {
  agentId: 'payer',
  askers: [
    { key_id: 'key_7', person: 'requester' },
    { key_id: 'key_8', person: 'second' },
  ],
  fourEyes: false,
  actingFor: 'beneficiary',
  owners: ['owner', 'Owner@example.org'],
  holdersOf: NOT_READ,
}

const requirement = (
  { users, roles, ...given }: Case['rules'][number] = {},
  rule_id = 'r0',
): Requirement => ({
  rule_id,
  description: null,
  required: 1,
  required_rejections: 1,
  approvers: users || roles ? { users: users ?? [], roles: roles ?? [] } : null,
  prevent_self_approval: true,
  reason_required: false,
  ...given,
})

/** `+alice/approver because`: approve or reject, name, role of the key, comment. */
function vote(text: string): ApprovalVote {
  const [, sign, id = '', role = 'admin', comment = null] =
    /^([+-])([^/ ]+)(?:\/(\w+))?(?: (.+))?$/.exec(text) ?? []
  return {
    approver: { type: 'person', id, named: true },
    role,
    key_id: 'key_1',
    decision: sign === '+' ? 'approve' : 'reject',
    comment,
    at: '2026-11-20T08:00:00.000Z',
  }
}

describe('the result of votes', () => {
  it.each(table)('$name: $is', ({ rules, votes, is }) => {
    const requirements = rules.map((rule, i) => requirement(rule, `r${i}`))

    expect(outcomeOf(requirements, votes.map(vote), PARTIES)).toBe(is)
  })

  it('does not depend on the order of rules or votes', () => {
    for (const { rules, votes, is } of table) {
      const requirements = rules.map((rule, i) => requirement(rule, `r${i}`)).toReversed()
      expect(outcomeOf(requirements, votes.map(vote).toReversed(), PARTIES)).toBe(is)
    }
  })
})

describe('an approval covers', () => {
  const votes = [vote('+alice')]
  const covered = (then: Requirement[], today: Requirement[], by = votes) =>
    covers(then, by, PARTIES, today)

  it.each([
    ['the same rule', [requirement()], [requirement()], true],
    ['fewer rules than then', [requirement(), requirement({}, 'r1')], [requirement()], true],
    ['a rule that was not asked then', [requirement()], [requirement({}, 'r1')], false],
    ['one more rule', [requirement()], [requirement(), requirement({}, 'r1')], false],
    ['a rule that asks for more now', [requirement()], [requirement({ required: 2 })], false],
    ['a rule for others now', [requirement()], [requirement({ users: ['bob'] })], false],
    ['a rule for whoever voted', [requirement()], [requirement({ users: ['alice'] })], true],
    [
      'a rule that wants reasons now',
      [requirement()],
      [requirement({ reason_required: true })],
      false,
    ],
  ])('%s: %s', (_, then, today, expected) => {
    expect(covered(then, today)).toBe(expected)
  })

  it('a rule that required two votes and now requires one', () => {
    const two = [vote('+alice'), vote('+bob')]
    expect(covered([requirement({ required: 2 })], [requirement()], two)).toBe(true)
  })

  it('nothing by rejections', () => {
    expect(covered([requirement()], [requirement()], [vote('-alice')])).toBe(false)
  })
})

describe('a voter', () => {
  it('is a person or a key, and no key is a person of the same name', () => {
    expect(isSameVoter({ type: 'person', id: 'Bob' }, { type: 'person', id: 'bob' })).toBe(true)
    expect(isSameVoter({ type: 'person', id: 'bob' }, { type: 'key', id: 'bob' })).toBe(false)
  })

  it('two people without an address are two voters', () => {
    const [one, other] = ['per_1', 'per_2'].map((id) => ({
      type: 'person' as const,
      id,
      email: '',
      names: [id, ''],
    }))
    expect(isSameVoter(one!, other!)).toBe(false)
    expect(isSameVoter(one!, { type: 'person', id: 'per_1' })).toBe(true)
  })

  it('gets the reason why the vote does not count', () => {
    const voter = {
      type: 'person' as const,
      id: 'payer',
      named: true,
      role: 'admin',
      key_id: 'key_v',
    }
    expect(objection(requirement(), voter, PARTIES)).toMatch(/cannot decide its own/)
    expect(objection(requirement({ users: ['bob'] }), { ...voter, id: 'eve' }, PARTIES)).toMatch(
      /r0 lets only bob decide/,
    )
  })

  it('an owner of the agent has no vote, under any name, unless the rule allows it', () => {
    const owner = { type: 'person' as const, named: true, role: 'admin', key_id: 'key_v' }
    for (const id of ['owner', 'OWNER', 'owner@example.org']) {
      expect(objection(requirement(), { ...owner, id }, PARTIES)).toMatch(/owner of the agent/)
      const lax = requirement({ prevent_self_approval: false })
      expect(objection(lax, { ...owner, id }, PARTIES)).toBeNull()
    }
    const key = { ...owner, type: 'key' as const, id: 'owner' }
    expect(objection(requirement(), key, PARTIES)).toBeNull()
  })
})
