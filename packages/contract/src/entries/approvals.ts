import { z } from 'zod'
import { Approval } from '../approvals.ts'
import { by, EVENT } from './row.ts'
import type { EntryRows } from './row.ts'

const {
  context,
  resource,
  shown: _,
  replaced: __,
  comment_for_agent: ___,
  can_vote: ____,
  why_not: _____,
  ledger: ______,
  ...brief
} = Approval.shape

const approval = z.strictObject(brief)
const vote = brief.votes.element

const sends = ['agent_id', 'action', 'resource', 'approval'] as const

const event = { ...EVENT, agent: 'always', carried: 'open_request' } as const

export const approvals = {
  'approval.requested': {
    ...event,
    says: 'a decision opened an approval request',
    data: z.strictObject({ approval: approval.extend({ context, resource }) }),
    event: { is: 'approval.requested', sends },
  },
  'approval.voted': {
    ...event,
    says: 'a vote that does not decide yet',
    data: z.strictObject({ approval, vote, ...by }),
  },
  'approval.decided': {
    ...event,
    says: 'the vote that approves or rejects',
    data: z.strictObject({ approval, vote, ...by }),
    event: { is: 'approval.decided', sends },
  },
  'approval.consumed': {
    ...event,
    says: 'an allow used the approval',
    data: z.strictObject({ approval }),
    event: { is: 'approval.consumed', sends },
  },
  'approval.expired': {
    ...event,
    says: 'the request or the approval expired',
    data: z.strictObject({ approval }),
    event: { is: 'approval.expired', sends },
  },
  'approval.cancelled': {
    ...event,
    says: 'the requester withdrew the request',
    data: z.strictObject({ approval, ...by }),
  },
  'approval.revoked': {
    ...event,
    says: 'an unused approval was revoked',
    data: z.strictObject({ approval, ...by }),
  },
} as const satisfies EntryRows
