import { describe, expect, it } from 'vitest'
import { NOT_READ } from './holders.ts'
import { evaluateApproval, MAX_PENDING } from './rule.ts'
import type { EarlierRequest, ApprovalQuery } from './rule.ts'
import type { Requirement } from './requirements.ts'

const NOW = Date.parse('2026-11-20T08:00:00.000Z')
const LATER = '2026-11-20T09:00:00.000Z'

const requirement: Requirement = {
  rule_id: 'large',
  description: null,
  required: 1,
  required_rejections: 1,
  approvers: null,
  prevent_self_approval: true,
  reason_required: false,
}
const earlier = (
  id: string,
  status: EarlierRequest['status'],
  given: Partial<EarlierRequest> = {},
): EarlierRequest => ({
  id,
  status,
  counts_until: LATER,
  bound: null,
  requirements: [requirement],
  votes:
    status === 'approved'
      ? [
          {
            approver: { type: 'person', id: 'alice', named: true },
            role: 'approver',
            key_id: 'key_1',
            decision: 'approve',
            comment: null,
            at: '2026-11-20T07:00:00.000Z',
          },
        ]
      : [],
  parties: {
    agentId: 'payer',
    askers: [],
    fourEyes: false,
    actingFor: null,
    owners: [],
    holdersOf: NOT_READ,
  },
  ...given,
})

const fourEyes = {
  parties: {
    agentId: 'payer',
    askers: [],
    fourEyes: true,
    actingFor: null,
    owners: [],
    holdersOf: NOT_READ,
  },
}

const answer = (given: Partial<ApprovalQuery<EarlierRequest>>) => {
  const said = evaluateApproval({
    requirements: [requirement],
    bound: null,
    earlier: [],
    pending: 0,
    asker: null,
    reference: null,
    now: NOW,
    ...given,
  })
  return 'by' in said ? `${said.is} ${said.by.id}` : said.is
}

describe('a request that needs an approval', () => {
  it.each([
    ['opens a request when there is none', [], 'new'],
    ['uses an approval', [earlier('a', 'approved')], 'approved a'],
    ['waits for the request there is', [earlier('p', 'pending')], 'pending p'],
    ['is denied while a rejection stands', [earlier('r', 'rejected')], 'rejected r'],
    [
      'is denied by a rejection although there is an approval',
      [earlier('a', 'approved'), earlier('r', 'rejected')],
      'rejected r',
    ],
    [
      'uses an approval although another request is pending',
      [earlier('p', 'pending'), earlier('a', 'approved')],
      'approved a',
    ],
    ['does not use what has expired', [earlier('a', 'approved', { counts_until: null })], 'new'],
    [
      'does not use what ends now',
      [earlier('a', 'approved', { counts_until: '2026-11-20T08:00:00.000Z' })],
      'new',
    ],
    ['does not use it twice', [earlier('a', 'consumed', { counts_until: null })], 'new'],
    ['does not use what was bound otherwise', [earlier('a', 'approved', { bound: ['x'] })], 'new'],
    [
      'does not use what answers another rule',
      [earlier('a', 'approved', { requirements: [{ ...requirement, rule_id: 'old' }] })],
      'new',
    ],
    ['does not use votes that are not there', [earlier('a', 'approved', { votes: [] })], 'new'],
  ])('%s', (_, given, expected) => {
    expect(answer({ earlier: given })).toBe(expected)
  })

  it.each([
    ['who voted', { key_id: 'key_2', person: 'Alice' }, {}, 'new'],
    ['somebody else', { key_id: 'key_2', person: 'bob' }, {}, 'approved a'],
    ['nobody by name', { key_id: 'key_1', person: null }, {}, 'approved a'],
    ['the key of the vote, with four eyes', { key_id: 'key_1', person: null }, fourEyes, 'new'],
    ['another key, with four eyes', { key_id: 'key_2', person: null }, fourEyes, 'approved a'],
  ])('requested by %s', (_, asker, given, expected) => {
    expect(answer({ asker, earlier: [earlier('a', 'approved', given)] })).toBe(expected)
  })

  it('takes the approval it points at, where there are several', () => {
    const several = [earlier('a', 'approved'), earlier('b', 'approved')]

    expect(answer({ earlier: several })).toBe('approved a')
    expect(answer({ earlier: several, reference: 'b' })).toBe('approved b')
    expect(answer({ earlier: several, reference: 'c' })).toBe('approved a')
    expect(answer({ reference: 'c' })).toBe('new')
  })

  it('is denied when too many of the agent wait, unless it is one of them', () => {
    expect(answer({ pending: MAX_PENDING - 1 })).toBe('new')
    expect(answer({ pending: MAX_PENDING })).toBe('backlog')
    expect(answer({ pending: MAX_PENDING, earlier: [earlier('p', 'pending')] })).toBe('pending p')
    expect(answer({ pending: MAX_PENDING, earlier: [earlier('a', 'approved')] })).toBe('approved a')
  })
})
