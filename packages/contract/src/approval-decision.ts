import { z } from 'zod'
import { AgentId } from './primitives.ts'

const SPELLINGS = {
  approve: 'approve',
  approved: 'approve',
  reject: 'reject',
  rejected: 'reject',
  deny: 'reject',
  denied: 'reject',
} as const

export const ApprovalDecision = z
  .strictObject({
    decision: z
      .enum(['approve', 'reject', 'approved', 'rejected', 'deny', 'denied'])
      .transform((word) => SPELLINGS[word]),
    comment: z.string().min(1).max(2000).optional(),
    approver: AgentId.optional().describe('Person who decides, if the key names no person'),
  })
  .meta({ id: 'ApprovalDecision' })
export type ApprovalDecision = z.infer<typeof ApprovalDecision>
