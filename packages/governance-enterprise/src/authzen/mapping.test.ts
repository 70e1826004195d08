import type { AuthorizeAnswer } from '@remit/contract'
import { describe, expect, it } from 'vitest'
import { decisionOf, mapEvaluation } from './mapping.ts'
import type { ApprovalReference } from './mapping.ts'

const ASK = {
  subject: { type: 'user', id: 'alice' },
  action: { name: 'tools/call' },
  resource: { type: 'tool', id: 'search' },
}
type Facts = Record<string, unknown>
const agentOf = (subject: Facts, context?: Facts) =>
  mapEvaluation({ ...ASK, ...(context && { context }), subject: { ...ASK.subject, ...subject } })
    .request.agent_id

describe('questionOf', () => {
  it.each(['agent', 'client', 'workload', 'service', 'Agent', 'AGENT', 'Service'])(
    'takes a subject of type %s for the agent, whatever the context names',
    (type) => {
      expect(agentOf({ type, id: 'bot' })).toBe('bot')
      expect(agentOf({ type, id: 'bot' }, { agent: 'other' })).toBe('bot')
      expect(agentOf({ type, id: 'bot' }, { agent: 7 })).toBe('bot')
    },
  )

  it('takes the agent from the context, if the subject is the person it acts for', () => {
    expect(agentOf({}, { agent: 'bot' })).toBe('bot')
    expect(agentOf({ type: 'User', id: 'x' }, { agent: 'bot' })).toBe('bot')
  })

  it.each(['device', 'person', 'agents', 'аgent'])(
    'takes no agent from the context for a subject of the type %s',
    (type) => {
      expect(() => agentOf({ type }, { agent: 'bot' })).toThrow(
        'context.agent: is only allowed with a subject of the type user',
      )
      expect(agentOf({ type, id: 'x' })).toBe('x')
    },
  )

  it.each([undefined, {}, { agent: null }, Object.create({ agent: 'inherited' }) as Facts])(
    'takes any other subject where the context names none: %j',
    (context) => {
      expect(agentOf({}, context)).toBe('alice')
    },
  )

  it.each([7, '', ' bot', 'bot*', ['bot'], { id: 'bot' }, true])(
    'refuses %j for an agent, and does not let the subject stand in for it',
    (agent) => {
      expect(() => agentOf({}, { agent })).toThrow('context.agent: must be the id of an agent')
    },
  )

  it('keeps subject, properties, resource and context, and nothing that AuthZEN does not define', () => {
    const question = mapEvaluation({
      subject: { type: 'user', id: 'alice', properties: { role: 'admin' }, extra: 1 },
      action: { name: 'delete', properties: { soft: true }, extra: 1 },
      resource: { type: 'record', id: '1', properties: { status: 'active' }, extra: 1 },
      context: { agent: 'bot', amount: 5 },
      extra: 1,
    })

    expect(question).toEqual({
      request: {
        agent_id: 'bot',
        action: 'delete',
        resource: { type: 'record', id: '1', properties: { status: 'active' } },
        context: { agent: 'bot', amount: 5 },
      },
      claims: {
        subject: { type: 'user', id: 'alice', properties: { role: 'admin' } },
        actionProperties: { soft: true },
      },
    })
  })

  it('makes nothing up', () => {
    expect(mapEvaluation(ASK)).toEqual({
      request: { agent_id: 'alice', action: 'tools/call', resource: ASK.resource },
      claims: { subject: ASK.subject },
    })
  })
})

const ANSWER: AuthorizeAnswer = {
  decision: 'allow',
  reason: 'default_allow',
  message: 'No rule denies this action.',
  decision_id: 'dec_1',
  agent_id: 'bot',
  action: 'a.b',
  matched: [],
  ledger: { seq: 7, hash: 'h', checkpoint: { size: 8, root: 'r' } },
  decided_at: '2026-11-20T08:00:00.000Z',
}
const waiting: Partial<AuthorizeAnswer> = {
  decision: 'needs_approval',
  reason: 'approval_required',
  matched: [
    { kind: 'policy', id: 'pol_1' },
    { kind: 'approval_rule', id: 'large' },
  ],
  approval: { id: 'apr_1', status: 'pending', expires_at: '2026-11-20T09:00:00.000Z' },
}
const shown = (answer: Partial<AuthorizeAnswer>, reference: ApprovalReference | null = null) =>
  decisionOf({ ...ANSWER, ...answer }, reference)

describe('decisionOf', () => {
  it('is true for allow and nothing else', () => {
    expect(shown({}).decision).toBe(true)
    expect(shown({ decision: 'deny', reason: 'policy_deny' }).decision).toBe(false)
    expect(shown(waiting).decision).toBe(false)
  })

  it('contains the reason, the decision id and the ledger entry', () => {
    expect(shown({ decision: 'deny', reason: 'policy_deny', message: 'No.' })).toEqual({
      decision: false,
      context: {
        reason: 'policy_deny',
        message: 'No.',
        evaluation_id: 'dec_1',
        evaluated_at: ANSWER.decided_at,
        matched: [],
        ledger: ANSWER.ledger,
      },
    })
  })

  it('a needed approval is a denial that can be lifted, until when and by which rule', () => {
    expect(shown(waiting).context).toMatchObject({
      reason: 'approval_required',
      evaluation_id: 'dec_1',
      access_request: { expires_at: '2026-11-20T09:00:00.000Z', template: 'large' },
      approval: { id: 'apr_1', status: 'pending' },
    })
    expect(shown({}).context).not.toHaveProperty('access_request')
  })

  const EVERY_REFERENCE = [null, 'open', 'unknown', 'out_of_scope', 'over'] as const
  const explained = (answer: Partial<AuthorizeAnswer>, reference: ApprovalReference | null) => {
    const { approval_reason, next_action } = shown(answer, reference).context ?? {}
    return [approval_reason, next_action]
  }

  it('keeps the reason of the decision, whatever approval the caller names', () => {
    const answers = [waiting, {}, { decision: 'deny', reason: 'agent_suspended' } as const]
    for (const answer of answers)
      for (const reference of EVERY_REFERENCE)
        expect(shown(answer, reference).context?.reason).toBe(answer.reason ?? ANSWER.reason)
  })

  it.each<[ApprovalReference | null, string | undefined, string | undefined]>([
    [null, undefined, undefined],
    ['open', undefined, undefined],
    ['unknown', 'approval_unverifiable', 'none'],
    ['out_of_scope', 'out_of_scope', 'request'],
    ['over', 'approval_expired', 'request'],
  ])('with an approval that is %s, and another needed: %s', (reference, ...expected) => {
    expect(explained(waiting, reference)).toEqual(expected)
  })

  it.each<[AuthorizeAnswer['reason'], string | undefined, string | undefined]>([
    ['policy_deny', 'policy_denied', 'none'],
    ['agent_suspended', 'policy_denied', 'none'],
    ['spend_limit_daily', 'policy_denied', 'none'],
    ['stage_unavailable', 'policy_denied', 'none'],
    ['approval_rejected', undefined, undefined],
    ['approval_backlog', undefined, undefined],
  ])('with an approval and still denied for %s: %s', (reason, ...expected) => {
    expect(explained({ decision: 'deny', reason }, 'open')).toEqual(expected)
    expect(explained({ decision: 'deny', reason }, null)).toEqual([undefined, undefined])
  })

  it('an allow is explained by itself, whatever the caller named', () => {
    expect(explained({ reason: 'approved' }, 'unknown')).toEqual([undefined, undefined])
  })
})
